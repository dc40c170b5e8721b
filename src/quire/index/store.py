"""What a shard asks of the engine, in plain values: they cross to another process unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from quire.index.conditions import Condition
from quire.index.payload import Kind
from quire.index.port import SparseVector, Terms


class Stored(NamedTuple):
    """A point as it is read; what wasn't asked for is None."""

    id: str
    payload: dict[str, Any] | None
    dense: NDArray[np.float32] | None
    terms: Terms | None


class NewPoint(NamedTuple):
    """A point as it is written."""

    id: str
    payload: dict[str, Any]
    dense: NDArray[np.float32]
    bm25: SparseVector


class Found(NamedTuple):
    """A point that a search found; the version goes up with every write to it."""

    id: str
    version: int
    score: float


class Store(Protocol):
    """The points of one book in the engine; every method blocks.

    Each raises `IndexUnavailable` when the engine fails.
    """

    def index_field(self, field: str, kind: Kind) -> None:
        """Let conditions on this field of the payload be looked up."""
        ...

    def upsert(self, points: Sequence[NewPoint]) -> None:
        """Insert or replace by id."""
        ...

    def overwrite(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        """Replace the payloads of points that are there."""
        ...

    def delete(self, ids: Sequence[str]) -> None:
        """Remove these points."""
        ...

    def flush(self) -> None:
        """Write the segments, so that the next load has no log to replay."""
        ...

    def close(self) -> None:
        """Free the files."""
        ...

    def alive(self) -> int:
        """How many points there are."""
        ...

    def count(self, conditions: Sequence[Condition]) -> int:
        """Exactly how many points match."""
        ...

    def query(
        self,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        conditions: Sequence[Condition],
        limit: int,
    ) -> list[list[Found]]:
        """The best points by each vector given, in the order of scores, then of ids."""
        ...

    def retrieve(
        self, ids: Sequence[str], payload: bool | list[str], *, vectors: bool
    ) -> list[Stored]:
        """The points with these ids, in any order; of the payload all, nothing or some fields."""
        ...

    def scroll(
        self,
        after: str | None,
        limit: int,
        conditions: Sequence[Condition] = (),
        *,
        payload: bool | list[str] = True,
        vectors: bool = False,
    ) -> tuple[list[Stored], str | None]:
        """A page in id order, and the id that the next one starts with."""
        ...


class Stores(Protocol):
    """Makes and opens stores."""

    def create(self, folder: Path, dimension: int) -> Store:
        """A new, empty one."""
        ...

    def load(self, folder: Path) -> Store:
        """An existing one, with what its log holds."""
        ...

    def abandon(self) -> None:
        """Make calls that don't end fail, if that is possible."""
        ...

    def close(self) -> None:
        """Let go of whatever ran the stores; they are closed before."""
        ...
