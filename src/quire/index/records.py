"""Conditions in the engine's words; its records, scores and errors in ours."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, TypeAlias, cast

import numpy as np
import qdrant_edge as engine

from quire.errors import IndexUnavailable
from quire.index.conditions import AnyOf, Condition, Match, conditions
from quire.index.finds import Row, ids_of, path_ids
from quire.index.payload import BM25, DENSE, to_chunk
from quire.index.port import Hit, Point, SparseVector, Terms
from quire.models import Filters

TABLE_FIELDS: Final = [
    "page_title",
    "section_path",
    "section_title",
    "source_file",
    "parent_doc_id",
    "content_hash",
]
"""What a table needs of a payload."""

Scored: TypeAlias = list[tuple[uuid.UUID, float]]
"""Points with their scores, best first."""


class EngineErrors:
    """Turns what the bindings raise (a bare `Exception`, or a panic) into `IndexUnavailable`.

    The same for what the operating system raises when the log is made durable.
    """

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


def engine_filter(filters: Filters) -> engine.Filter | None:
    """The conditions in the engine's words."""
    must: list[engine.ConditionType] = [_condition(found) for found in conditions(filters)]
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


def ranking_of(points: Sequence[engine.ScoredPoint]) -> Scored:
    """Best first; equal scores in the order of the ids, so that a search repeats exactly."""
    pairs = [(cast(uuid.UUID, point.id), point.score) for point in points]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def scored_hits(
    ranking: Scored, known: dict[uuid.UUID, Hit], *, with_vectors: bool
) -> tuple[Hit, ...]:
    """The scored hits; a point deleted since the search is left out."""
    return tuple(
        Hit(hit.chunk, score, hit.dense, hit.terms) if with_vectors else Hit(hit.chunk, score)
        for point_id, score in ranking
        if (hit := known.get(point_id)) is not None
    )


def hit_of(record: engine.Record, *, with_vectors: bool) -> Hit:
    """A hit without its score; the engine's vectors are converted once, which takes longest."""
    chunk = to_chunk(str(record.id), record.payload or {})
    if not with_vectors:
        return Hit(chunk, 0.0)
    vectors = cast(dict[str, Any], record.vector)
    terms = cast("engine.SparseVector | None", vectors.get(BM25))
    return Hit(
        chunk,
        0.0,
        np.asarray(vectors[DENSE], dtype=np.float32),
        Terms.of(terms.indices, terms.values) if terms else Terms.of((), ()),
    )


def row_of(record: engine.Record) -> Row:
    """What a ranking asks of a chunk; the record holds `TABLE_FIELDS` and the vectors."""
    payload = record.payload or {}
    vectors = cast(dict[str, Any], record.vector)
    terms = cast("engine.SparseVector | None", vectors.get(BM25))
    held = Terms.of(terms.indices, terms.values) if terms else Terms.of((), ())
    return Row(
        id=str(record.id),
        dense=np.asarray(vectors[DENSE], dtype=np.float32),
        terms=held,
        headings=ids_of((payload["page_title"], *payload["section_path"])),
        section=ids_of((payload["section_title"] or payload["page_title"],)),
        path=path_ids(payload["source_file"]),
        page=payload["parent_doc_id"],
        text=payload["content_hash"],
    )


def point_of(record: engine.Record) -> Point:
    """A stored point, whole."""
    vectors = cast(dict[str, Any], record.vector)
    terms = cast("engine.SparseVector | None", vectors.get(BM25))
    bm25 = SparseVector(tuple(terms.indices), tuple(terms.values)) if terms else None
    chunk = to_chunk(str(record.id), record.payload or {})
    dense = np.asarray(vectors[DENSE], dtype=np.float32)
    return Point(chunk, dense, bm25 or SparseVector((), ()))
