"""The port to the vector store: one collection of chunks, every call bound to a book."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from quire.errors import EmbedderMismatch
from quire.models import Chunk, Filters

if TYPE_CHECKING:
    from quire.index.finds import C, Choose, Question


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids with their weights (BM25 term frequencies; the store applies the IDF)."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The term ids and weights of a found chunk, as arrays: many of them are held in memory."""

    ids: NDArray[np.uint32]
    weights: NDArray[np.float32]

    @classmethod
    def of(cls, ids: Sequence[int], weights: Sequence[float]) -> Terms:
        """From any two sequences of equal length."""
        return cls(np.array(ids, dtype=np.uint32), np.array(weights, dtype=np.float32))


@dataclass(frozen=True, slots=True)
class Point:
    """A chunk with the vectors it is found by."""

    chunk: Chunk
    dense: NDArray[np.float32]
    bm25: SparseVector


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk with a store's score: cosine for `dense`, BM25 for `bm25`.

    `dense` is the chunk's own vector, and `terms` its BM25 terms, when the query asked for
    vectors.
    """

    chunk: Chunk
    score: float
    dense: NDArray[np.float32] | None = None
    terms: Terms | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """What each way of searching found, best first."""

    dense: tuple[Hit, ...]
    bm25: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """Which vector space a collection holds."""

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} dimensions)"

    def check(self, other: EmbedderInfo) -> None:
        """Raise `EmbedderMismatch` unless the other is this space."""
        if other != self:
            raise EmbedderMismatch(stored=str(self), configured=str(other))

    def check_vector(self, vector: NDArray[np.float32]) -> None:
        """Raise `EmbedderMismatch` unless the vector has this space's length."""
        if vector.shape != (self.dimension,):
            raise EmbedderMismatch(stored=str(self), configured=f"a vector of shape {vector.shape}")


class Index(Protocol):
    """Stores points of many books; no call returns or touches another book's points.

    Writes are visible to the same process at once and durable after `commit()`.
    Every method raises `IndexUnavailable` when the store doesn't answer.
    """

    async def embedder(self) -> EmbedderInfo | None:
        """The vector space of the current collection; None when there is none yet."""
        ...

    async def ping(self) -> None:
        """Raise `IndexUnavailable` unless the store answers now."""
        ...

    async def prepare(self, embedder: EmbedderInfo) -> None:
        """Create the collection (vectors `dense` and `bm25`, payload indexes) if absent.

        Raises `EmbedderMismatch` if it exists with another embedder.
        """
        ...

    async def books(self) -> list[str]:
        """The ids of the books that have chunks, in order."""
        ...

    async def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace by chunk id."""
        ...

    async def update_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Replace the payload of stored chunks and keep their vectors; unknown ids are ignored."""
        ...

    async def delete(self, book_id: str, ids: Sequence[str]) -> None:
        """Remove these chunks of this book; unknown ids are ignored."""
        ...

    async def delete_book(self, book_id: str) -> None:
        """Remove every chunk of this book."""
        ...

    async def fetch(self, book_id: str, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in the order asked; unknown ids are left out."""
        ...

    async def fetch_points(self, book_id: str, ids: Sequence[str]) -> list[Point]:
        """Like `fetch`, with the vectors (to move or copy without embedding again)."""
        ...

    async def scroll(
        self,
        book_id: str,
        filters: Filters = Filters(),
        *,
        after: str | None = None,
        limit: int = 256,
    ) -> tuple[list[Chunk], str | None]:
        """A page of chunks in id order, and the cursor for the next page (None at the end)."""
        ...

    async def count(self, book_id: str, filters: Filters = Filters()) -> int:
        """Exactly how many chunks of this book match."""
        ...

    async def search(
        self,
        book_id: str,
        *,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        filters: Filters = Filters(),
        limit: int,
        with_vectors: bool = False,
    ) -> Candidates:
        """Up to `limit` hits for each vector given, in one round trip; IDF is over the book."""
        ...

    async def find(
        self,
        book_id: str,
        question: Question,
        *,
        filters: Filters = Filters(),
        limit: int,
        choose: Choose[C],
    ) -> tuple[C, tuple[Hit, ...]]:
        """Search both ways, let `choose` rank the finds, and decode what it chose, in its order.

        The hits have vectors and terms, and no score of their own. `choose` runs in any thread.
        """
        ...

    async def commit(self) -> None:
        """Return when everything written so far is durable."""
        ...

    async def begin_rebuild(self, embedder: EmbedderInfo) -> Index:
        """A new empty collection beside the current one, invisible to readers."""
        ...

    async def finish_rebuild(self, rebuilt: Index) -> None:
        """Switch the alias to the rebuilt collection in one step, then drop the old one."""
        ...

    async def close(self) -> None:
        """Flush and let go of the store."""
        ...
