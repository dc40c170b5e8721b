"""Stored points as chunks, hits and rows."""

from __future__ import annotations

from typing import Final

from quire.index.finds import Row, ids_of, path_ids
from quire.index.payload import to_chunk
from quire.index.port import Hit, Point, SparseVector, Terms
from quire.index.store import Found, Stored
from quire.models import Chunk

TABLE_FIELDS: Final = [
    "page_title",
    "section_path",
    "section_title",
    "source_file",
    "parent_doc_id",
    "chunk_index",
    "content_hash",
]
"""What a table needs of a payload."""


def chunk_of(stored: Stored) -> Chunk:
    """The chunk; the payload was asked for."""
    return to_chunk(stored.id, stored.payload or {})


def hit_of(stored: Stored) -> Hit:
    """A hit without its score."""
    return Hit(chunk_of(stored), 0.0, stored.dense, stored.terms)


def scored_hits(
    ranking: list[Found], known: dict[str, Hit], *, with_vectors: bool
) -> tuple[Hit, ...]:
    """The scored hits; a point deleted since the search is left out."""
    return tuple(
        Hit(hit.chunk, point.score, hit.dense, hit.terms)
        if with_vectors
        else Hit(hit.chunk, point.score)
        for point in ranking
        if (hit := known.get(point.id)) is not None
    )


def row_of(stored: Stored) -> Row:
    """What a ranking asks of a chunk; `TABLE_FIELDS` and the vectors were asked for."""
    payload = stored.payload or {}
    assert stored.dense is not None
    return Row(
        id=stored.id,
        dense=stored.dense,
        terms=stored.terms or Terms.of((), ()),
        headings=ids_of((payload["page_title"], *payload["section_path"])),
        section=ids_of((payload["section_title"] or payload["page_title"],)),
        path=path_ids(payload["source_file"]),
        opens=payload["chunk_index"] == 0,
        page=payload["parent_doc_id"],
        text=payload["content_hash"],
    )


def point_of(stored: Stored) -> Point:
    """A stored point, whole."""
    assert stored.dense is not None
    terms = stored.terms or Terms.of((), ())
    bm25 = SparseVector(tuple(terms.ids.tolist()), tuple(terms.weights.tolist()))
    return Point(chunk_of(stored), stored.dense, bm25)
