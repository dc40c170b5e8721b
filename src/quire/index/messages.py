"""What goes to a Qdrant server and comes back, in the words of its client library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from quire.index.conditions import AnyOf, Condition, Match, conditions
from quire.index.payload import BM25, DENSE, TENANT, to_chunk, to_payload
from quire.index.port import Hit, Point, SparseVector, Terms
from quire.models import Chunk, Filters

if TYPE_CHECKING:
    from qdrant_client import models

SEARCH_WIDTH: Final = 256
"""Candidates the graph search keeps; wide, because recall counts more than the time."""


def queries(
    book_id: str,
    dense: NDArray[np.float32] | None,
    bm25: SparseVector | None,
    filters: Filters,
    limit: int,
    *,
    with_vectors: bool,
) -> list[models.QueryRequest]:
    """One query for each vector that is there, dense first."""
    from qdrant_client import models

    narrowed = book_filter(book_id, filters)
    requests: list[models.QueryRequest] = []
    if dense is not None:
        requests.append(
            models.QueryRequest(
                query=cast(list[float], dense.tolist()),
                using=DENSE,
                filter=narrowed,
                limit=limit,
                with_payload=True,
                with_vector=with_vectors,
                params=models.SearchParams(hnsw_ef=SEARCH_WIDTH),
            )
        )
    if bm25 is not None and bm25.indices:
        corpus = models.IdfCorpusParams(corpus=book_filter(book_id))
        requests.append(
            models.QueryRequest(
                query=_sparse(bm25),
                using=BM25,
                filter=narrowed,
                limit=limit,
                with_payload=True,
                with_vector=with_vectors,
                params=models.SearchParams(idf=corpus),
            )
        )
    return requests


def field_index(field: str, kind: str) -> models.KeywordIndexParams | models.IntegerIndexParams:
    """Only the tenant has a graph of its own; the other fields narrow it down."""
    from qdrant_client import models

    if kind == "integer":
        return models.IntegerIndexParams(
            type=models.IntegerIndexType.INTEGER, lookup=True, range=True, enable_hnsw=False
        )
    return models.KeywordIndexParams(
        type=models.KeywordIndexType.KEYWORD,
        is_tenant=field == TENANT or None,
        enable_hnsw=field == TENANT,
    )


def book_filter(book_id: str, filters: Filters = Filters()) -> models.Filter:
    """Every filter begins here: the book, then what else must hold."""
    from qdrant_client import models

    tenant = models.FieldCondition(key=TENANT, match=models.MatchValue(value=book_id))
    return models.Filter(must=[tenant, *(_condition(c) for c in conditions(filters))])


def id_filter(book_id: str, ids: Sequence[str]) -> models.Filter:
    """These points, if they are the book's."""
    from qdrant_client import models

    chosen = models.HasIdCondition(has_id=list(ids))
    return models.Filter(must=[*cast(list[Any], book_filter(book_id).must), chosen])


def _condition(condition: Condition) -> models.FieldCondition | models.Filter:
    from qdrant_client import models

    if isinstance(condition, Match):
        values = cast(list[str] | list[int], list(condition.values))
        match = (
            models.MatchValue(value=values[0]) if len(values) == 1 else models.MatchAny(any=values)
        )
        return models.FieldCondition(key=condition.field, match=match)
    if isinstance(condition, AnyOf):
        return models.Filter(should=[_condition(match) for match in condition.matches])
    bounds = models.Range(gte=condition.at_least, lte=condition.at_most)
    return models.FieldCondition(key=condition.field, range=bounds)


def _sparse(vector: SparseVector) -> models.SparseVector:
    from qdrant_client import models

    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def hits(points: Sequence[models.ScoredPoint]) -> tuple[Hit, ...]:
    """Best first; equal scores in the order of the ids, so that a search repeats exactly."""
    ranked = sorted(points, key=lambda point: (-point.score, str(point.id)))
    return tuple(
        Hit(
            to_chunk(str(point.id), point.payload or {}),
            point.score,
            _dense(point) if point.vector else None,
            _terms(point) if point.vector else None,
        )
        for point in ranked
    )


def _dense(record: models.Record | models.ScoredPoint) -> NDArray[np.float32]:
    vectors = cast(dict[str, Any], record.vector)
    return np.asarray(vectors[DENSE], dtype=np.float32)


def _terms(record: models.ScoredPoint) -> Terms:
    vectors = cast(dict[str, Any], record.vector)
    terms = cast("models.SparseVector | None", vectors.get(BM25))
    return Terms.of(terms.indices, terms.values) if terms else Terms.of((), ())


def row(point: Point) -> models.PointStruct:
    """A point as it is stored."""
    from qdrant_client import models

    dense = cast(list[float], point.dense.tolist())
    return models.PointStruct(
        id=point.chunk.id,
        vector={DENSE: dense, BM25: _sparse(point.bm25)},
        payload=to_payload(point.chunk),
    )


def replacement(chunk: Chunk) -> models.OverwritePayloadOperation:
    """A new payload for the chunk, if the book has it."""
    from qdrant_client import models

    chosen = id_filter(chunk.book_id, [chunk.id])
    return models.OverwritePayloadOperation(
        overwrite_payload=models.SetPayload(payload=to_payload(chunk), filter=chosen)
    )


def point(record: models.Record) -> Point:
    """A stored point."""
    vectors = cast(dict[str, Any], record.vector)
    terms = cast("models.SparseVector | None", vectors.get(BM25))
    bm25 = SparseVector(tuple(terms.indices), tuple(terms.values)) if terms else None
    chunk = to_chunk(str(record.id), record.payload or {})
    return Point(chunk, _dense(record), bm25 or SparseVector((), ()))
