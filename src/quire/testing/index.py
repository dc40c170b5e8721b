"""An index in memory: the whole contract of the port in plain Python and numpy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from quire.errors import Conflict, InvalidRequest
from quire.index.conditions import AnyOf, Condition, Match, conditions
from quire.index.finds import C, Choose, Question, search_and_choose
from quire.index.payload import is_point_id, to_payload
from quire.index.port import Candidates, EmbedderInfo, Hit, Index, Point, SparseVector, Terms
from quire.models import Chunk, Filters

Books = dict[str, dict[str, Point]]


class MemoryIndex:
    """Nothing is durable and nothing is fast; what it answers is what the port promises.

    `commits` counts the calls of `commit`, for tests that care when work becomes durable.
    """

    def __init__(self) -> None:
        self.commits = 0
        self._embedder: EmbedderInfo | None = None
        self._books: Books = {}
        self._rebuild_of: MemoryIndex | None = None

    async def embedder(self) -> EmbedderInfo | None:
        """What `prepare` was given."""
        return self._embedder

    async def ping(self) -> None:
        """It always answers."""

    async def prepare(self, embedder: EmbedderInfo) -> None:
        """Remember the embedder, or refuse another."""
        if self._embedder is None:
            self._embedder = embedder
        self._embedder.check(embedder)

    async def books(self) -> list[str]:
        """The ids of the books that have chunks, in order."""
        return sorted(book_id for book_id, points in self._books.items() if points)

    async def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace by chunk id."""
        if self._embedder is None:
            raise Conflict("the index has no collection yet: call prepare() before writing")
        for point in points:
            self._check(point.dense)
            if not is_point_id(point.chunk.id):
                raise InvalidRequest(f"chunk id {point.chunk.id!r} is not a UUID", field="id")
        for point in points:
            unit = _unit(point.dense)
            book = self._books.setdefault(point.chunk.book_id, {})
            book[point.chunk.id] = replace(point, dense=unit)

    async def update_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Replace stored chunks, keep their vectors."""
        for chunk in chunks:
            book = self._books.get(chunk.book_id, {})
            if chunk.id in book:
                book[chunk.id] = replace(book[chunk.id], chunk=chunk)

    async def delete(self, book_id: str, ids: Sequence[str]) -> None:
        """Remove these chunks of this book."""
        for point_id in ids:
            self._books.get(book_id, {}).pop(point_id, None)

    async def delete_book(self, book_id: str) -> None:
        """Remove the book."""
        self._books.pop(book_id, None)

    async def fetch(self, book_id: str, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in the order asked."""
        return [point.chunk for point in await self.fetch_points(book_id, ids)]

    async def fetch_points(self, book_id: str, ids: Sequence[str]) -> list[Point]:
        """Like `fetch`, with the vectors."""
        book = self._books.get(book_id, {})
        return [book[point_id] for point_id in ids if point_id in book]

    async def scroll(
        self,
        book_id: str,
        filters: Filters = Filters(),
        *,
        after: str | None = None,
        limit: int = 256,
    ) -> tuple[list[Chunk], str | None]:
        """A page in id order; the cursor is the id that the next page starts with."""
        if after is not None and not is_point_id(after):
            raise InvalidRequest("the cursor is not one that a page returned", field="after")
        found = sorted(
            (point.chunk for point in self._matching(book_id, filters)), key=lambda c: c.id
        )
        rest = [chunk for chunk in found if after is None or chunk.id >= after]
        return rest[:limit], rest[limit].id if len(rest) > limit else None

    async def count(self, book_id: str, filters: Filters = Filters()) -> int:
        """How many chunks of this book match."""
        return len(self._matching(book_id, filters))

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
        """Cosine and BM25 over every matching chunk."""
        self._check(dense)
        points = self._matching(book_id, filters)
        by_cosine: list[tuple[float, Point]] = []
        by_terms: list[tuple[float, Point]] = []
        if dense is not None:
            unit = _unit(dense)
            by_cosine = [(float(point.dense @ unit), point) for point in points]
        if bm25 is not None:
            weights = self._weights(book_id, bm25)
            scored = [(_dot(weights, point.bm25), point) for point in points]
            by_terms = [(score, point) for score, point in scored if score > 0]
        return Candidates(
            _best(by_cosine, limit, with_vectors=with_vectors),
            _best(by_terms, limit, with_vectors=with_vectors),
        )

    async def find(
        self,
        book_id: str,
        question: Question,
        *,
        filters: Filters = Filters(),
        limit: int,
        choose: Choose[C],
    ) -> tuple[C, tuple[Hit, ...]]:
        """Both searches, ranked."""
        return await search_and_choose(
            self, book_id, question, filters=filters, limit=limit, choose=choose
        )

    async def commit(self) -> None:
        """Count the call."""
        self.commits += 1

    async def begin_rebuild(self, embedder: EmbedderInfo) -> Index:
        """Another empty index."""
        rebuilt = MemoryIndex()
        await rebuilt.prepare(embedder)
        rebuilt._rebuild_of = self
        return rebuilt

    async def finish_rebuild(self, rebuilt: Index) -> None:
        """Take over what the other index holds."""
        if not isinstance(rebuilt, MemoryIndex) or rebuilt._rebuild_of is not self:
            raise Conflict("this is not a rebuild of this index, or it is finished already")
        self._embedder, self._books = rebuilt._embedder, rebuilt._books
        rebuilt._rebuild_of = None

    async def close(self) -> None:
        """Nothing to free."""

    def _check(self, dense: NDArray[np.float32] | None) -> None:
        if dense is not None and self._embedder is not None:
            self._embedder.check_vector(dense)

    def _matching(self, book_id: str, filters: Filters) -> list[Point]:
        wanted = conditions(filters)
        points = self._books.get(book_id, {}).values()
        return [point for point in points if all(_holds(c, point.chunk) for c in wanted)]

    def _weights(self, book_id: str, query: SparseVector) -> dict[int, float]:
        """The query's terms times their IDF over the whole book, whatever the filters."""
        points = self._books.get(book_id, {}).values()
        found = Counter(term for point in points for term in set(point.bm25.indices))
        total = len(points)
        return {
            term: weight * math.log((total - found[term] + 0.5) / (found[term] + 0.5) + 1)
            for term, weight in zip(query.indices, query.values, strict=True)
        }


def _holds(condition: Condition, chunk: Chunk) -> bool:
    if isinstance(condition, AnyOf):
        return any(_holds(match, chunk) for match in condition.matches)
    value = to_payload(chunk)[condition.field]
    if isinstance(condition, Match):
        return value in condition.values
    if condition.at_least is not None and value < condition.at_least:
        return False
    return condition.at_most is None or value <= condition.at_most


def _dot(weights: dict[int, float], document: SparseVector) -> float:
    pairs = zip(document.indices, document.values, strict=True)
    return sum(weights.get(term, 0.0) * value for term, value in pairs)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).astype(np.float32)


def _best(
    scored: Iterable[tuple[float, Point]], limit: int, *, with_vectors: bool
) -> tuple[Hit, ...]:
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].chunk.id))[:limit]
    return tuple(
        Hit(point.chunk, score, point.dense, Terms.of(point.bm25.indices, point.bm25.values))
        if with_vectors
        else Hit(point.chunk, score)
        for score, point in ranked
    )
