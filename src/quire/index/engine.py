"""Qdrant Edge: the only module that speaks to the engine.

`qdrant-edge-py` 0.9 keeps the interpreter lock during every call: a thread keeps the event
loop's order but not its pace. Opening a shard takes 70 ms, a flush up to .2 s. So a process that
serves has the engine in another one (`apart.py`).
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, cast

import numpy as np
import qdrant_edge as engine
from numpy.typing import NDArray

from quire.errors import IndexUnavailable
from quire.index.conditions import AnyOf, Condition, Match
from quire.index.payload import BM25, DENSE, Kind
from quire.index.port import SparseVector, Terms
from quire.index.store import Found, NewPoint, Stored

_KINDS: Final = {
    "keyword": engine.PayloadSchemaType.Keyword,
    "integer": engine.PayloadSchemaType.Integer,
}


class EngineErrors:
    """Turns what the bindings raise (a bare `Exception`, or a panic) into `IndexUnavailable`."""

    def __init__(self, doing: str) -> None:
        self._doing = doing

    def __enter__(self) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            return
        if kind is Exception or kind.__name__ == "PanicException" or issubclass(kind, OSError):
            reason = str(error).partition("\n")[0]
            raise IndexUnavailable(
                f"the embedded index failed to {self._doing}: {reason}"
            ) from error


class EdgeStore:
    """A store in this process."""

    def __init__(self, shard: engine.EdgeShard) -> None:
        self._shard = shard

    @classmethod
    def create(cls, folder: Path, dimension: int) -> EdgeStore:
        """A new empty one."""
        config = engine.EdgeConfig(
            vectors={
                DENSE: engine.EdgeVectorParams(size=dimension, distance=engine.Distance.Cosine)
            },
            sparse_vectors={BM25: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf)},
            max_search_threads=1,
        )
        with EngineErrors("create a shard"):
            folder.mkdir(parents=True)
            return cls(engine.EdgeShard.create(str(folder), config))

    @classmethod
    def load(cls, folder: Path) -> EdgeStore:
        """An existing one, with what its log holds."""
        with EngineErrors(f"open {folder}"):
            return cls(engine.EdgeShard.load(str(folder)))

    def index_field(self, field: str, kind: Kind) -> None:
        """Let conditions on this field of the payload be looked up."""
        self._update(engine.UpdateOperation.create_field_index(field, _KINDS[kind]))

    def upsert(self, points: Sequence[NewPoint]) -> None:
        """Insert or replace by id."""
        rows = [
            engine.Point(
                point.id,
                {
                    DENSE: cast(list[float], point.dense.tolist()),
                    BM25: engine.SparseVector(list(point.bm25.indices), list(point.bm25.values)),
                },
                point.payload,
            )
            for point in points
        ]
        self._update(engine.UpdateOperation.upsert_points(rows))

    def overwrite(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        """Replace the payloads of points that are there; the engine refuses an unknown id."""
        for point_id, payload in payloads.items():
            self._update(engine.UpdateOperation.overwrite_payload([point_id], payload))

    def delete(self, ids: Sequence[str]) -> None:
        """Remove these points."""
        self._update(engine.UpdateOperation.delete_points(_point_ids(ids)))

    def flush(self) -> None:
        """Write the segments."""
        with EngineErrors("flush"):
            self._shard.flush()

    def close(self) -> None:
        """Free the files."""
        with EngineErrors("close"):
            self._shard.close()

    def alive(self) -> int:
        """How many points there are."""
        with EngineErrors("count"):
            return self._shard.info().points_count

    def count(self, conditions: Sequence[Condition]) -> int:
        """Exactly how many points match."""
        request = engine.CountRequest(exact=True, filter=_filter(conditions))
        with EngineErrors("count"):
            return self._shard.count(request)

    def query(
        self,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        conditions: Sequence[Condition],
        limit: int,
    ) -> list[list[Found]]:
        """Both searches as one engine batch.

        The dense search scans the book's vectors, so recall is 1. The engine's graph would be
        faster from some 20,000 chunks on, but building it stops every other call
        (150 s for 50,000 chunks on two cores).
        """
        narrowed = _filter(conditions)
        queries: list[engine.Query] = []
        if dense is not None:
            queries.append(engine.Query.Nearest(cast(list[float], dense.tolist()), DENSE))
        if bm25 is not None and bm25.indices:
            terms = engine.SparseVector(list(bm25.indices), list(bm25.values))
            queries.append(engine.Query.Nearest(terms, BM25))
        if not queries:
            return []
        batch = [
            engine.QueryRequest(limit, query=query, filter=narrowed, with_payload=False)
            for query in queries
        ]
        with EngineErrors("search"):
            found = self._shard.query_batch(engine.QueryBatchRequest(batch))
        return [
            sorted(
                (Found(str(point.id), point.version, point.score) for point in points),
                key=lambda point: (-point.score, point.id),
            )
            for points in found
        ]

    def retrieve(
        self, ids: Sequence[str], payload: bool | list[str], *, vectors: bool
    ) -> list[Stored]:
        """The points with these ids."""
        with EngineErrors("fetch"):
            records = self._shard.retrieve(_point_ids(ids), payload, vectors)
        return [_stored(record) for record in records]

    def scroll(
        self,
        after: str | None,
        limit: int,
        conditions: Sequence[Condition] = (),
        *,
        payload: bool | list[str] = True,
        vectors: bool = False,
    ) -> tuple[list[Stored], str | None]:
        """A page in id order."""
        request = engine.ScrollRequest(
            offset=after,
            limit=limit,
            filter=_filter(conditions),
            with_payload=payload,
            with_vector=vectors,
        )
        with EngineErrors("scroll"):
            records, following = self._shard.scroll(request)
        return [_stored(record) for record in records], None if following is None else str(
            following
        )

    def _update(self, operation: engine.UpdateOperation) -> None:
        with EngineErrors("write"):
            self._shard.update(operation)


class Here:
    """The stores of this process: right for a command, which has no loop to keep going."""

    create = staticmethod(EdgeStore.create)
    load = staticmethod(EdgeStore.load)

    def abandon(self) -> None:
        """A call in this process can't be ended."""

    def close(self) -> None:
        """Nothing else runs."""


def _point_ids(ids: Sequence[str]) -> list[engine.PointId]:
    return cast("list[engine.PointId]", list(ids))


def _stored(record: engine.Record) -> Stored:
    """The engine's vectors are converted here, once: that takes longest."""
    vectors = cast("dict[str, Any] | None", record.vector)
    dense = terms = None
    if vectors:
        dense = np.asarray(vectors[DENSE], dtype=np.float32)
        held = cast("engine.SparseVector | None", vectors.get(BM25))
        terms = Terms.of(held.indices, held.values) if held else Terms.of((), ())
    return Stored(str(cast(uuid.UUID, record.id)), record.payload, dense, terms)


def _filter(conditions: Sequence[Condition]) -> engine.Filter | None:
    """The conditions in the engine's words."""
    must: list[engine.ConditionType] = [_condition(each) for each in conditions]
    return engine.Filter(must=must) if must else None


def _condition(condition: Condition) -> engine.FieldCondition | engine.Filter:
    if isinstance(condition, Match):
        values = cast(list[str] | list[int], list(condition.values))
        match = engine.MatchValue(values[0]) if len(values) == 1 else engine.MatchAny(values)
        return engine.FieldCondition(condition.field, match=match)
    if isinstance(condition, AnyOf):
        return engine.Filter(should=[_condition(match) for match in condition.matches])
    return engine.FieldCondition(
        condition.field,
        range=engine.RangeFloat(gte=condition.at_least, lte=condition.at_most),
    )
