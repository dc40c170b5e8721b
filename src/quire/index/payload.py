"""A chunk as the store keeps it: a flat payload and its indexes."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final, Literal

from quire.index.conditions import page_url
from quire.models import Chunk, Rendition, Run

SCHEMA_VERSION: Final = 1
"""Goes up when vectors, payload or analyzer change in a way that asks for a rebuild."""

DENSE: Final = "dense"
BM25: Final = "bm25"
TENANT: Final = "book_id"

Kind = Literal["keyword", "integer"]

FILTERED: Final[dict[str, Kind]] = {
    "module": "keyword",
    "chapter": "integer",
    "lesson": "integer",
    "hardware_tier": "integer",
    "proficiency_level": "keyword",
    "layer": "keyword",
    "parent_doc_id": "keyword",
    "page_url": "keyword",
    "source_url": "keyword",
    "page_title": "keyword",
    "section_title": "keyword",
    "source_file": "keyword",
    "language": "keyword",
}
"""The fields that `Filters` can name."""

INDEXED: Final[dict[str, Kind]] = {
    TENANT: "keyword",
    **FILTERED,
    "content_hash": "keyword",
    "source_file_hash": "keyword",
}
"""Every payload index of a shared collection."""

_POINT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_point_id(text: str) -> bool:
    """Whether a store can hold this id: a UUID in its canonical spelling."""
    return _POINT_ID.fullmatch(text) is not None


def to_payload(chunk: Chunk) -> dict[str, Any]:
    """The chunk without its id (that is the point's), datetimes in ISO 8601."""
    return {
        "book_id": chunk.book_id,
        "module": chunk.module,
        "chapter": chunk.chapter,
        "lesson": chunk.lesson,
        "hardware_tier": chunk.hardware_tier,
        "proficiency_level": chunk.proficiency_level,
        "layer": chunk.layer,
        "parent_doc_id": chunk.parent_doc_id,
        "content_hash": chunk.content_hash,
        "source_file_hash": chunk.source_file_hash,
        "embedded_hash": chunk.embedded_hash,
        "text": chunk.text,
        "page_title": chunk.page_title,
        "section_title": chunk.section_title,
        "section_path": list(chunk.section_path),
        "breadcrumb": chunk.breadcrumb,
        "source_file": chunk.source_file,
        "source_url": chunk.source_url,
        "page_url": page_url(chunk.source_url),
        "language": chunk.language,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "line_start": chunk.line_start,
        "line_end": chunk.line_end,
        "chunk_index": chunk.chunk_index,
        "total_chunks": chunk.total_chunks,
        "prev_chunk_id": chunk.prev_chunk_id,
        "next_chunk_id": chunk.next_chunk_id,
        "word_count": chunk.word_count,
        "token_count": chunk.token_count,
        "char_count": chunk.char_count,
        "opening": chunk.opening,
        "rendition": _rendered(chunk.rendition),
        "version": chunk.version,
        "created_at": chunk.created_at.isoformat(),
        "updated_at": chunk.updated_at.isoformat(),
    }


def to_chunk(point_id: str, payload: dict[str, Any]) -> Chunk:
    """The chunk that `to_payload` wrote."""
    return Chunk(
        id=point_id,
        text=payload["text"],
        book_id=payload["book_id"],
        source_file=payload["source_file"],
        module=payload["module"],
        chapter=payload["chapter"],
        lesson=payload["lesson"],
        page_title=payload["page_title"],
        section_title=payload["section_title"],
        section_path=tuple(payload["section_path"]),
        breadcrumb=payload["breadcrumb"],
        source_url=payload["source_url"],
        language=payload["language"],
        hardware_tier=payload["hardware_tier"],
        proficiency_level=payload["proficiency_level"],
        layer=payload["layer"],
        char_start=payload["char_start"],
        char_end=payload["char_end"],
        line_start=payload["line_start"],
        line_end=payload["line_end"],
        parent_doc_id=payload["parent_doc_id"],
        chunk_index=payload["chunk_index"],
        total_chunks=payload["total_chunks"],
        prev_chunk_id=payload["prev_chunk_id"],
        next_chunk_id=payload["next_chunk_id"],
        content_hash=payload["content_hash"],
        source_file_hash=payload["source_file_hash"],
        embedded_hash=payload["embedded_hash"],
        version=payload["version"],
        created_at=datetime.fromisoformat(payload["created_at"]),
        updated_at=datetime.fromisoformat(payload["updated_at"]),
        word_count=payload["word_count"],
        token_count=payload["token_count"],
        char_count=payload["char_count"],
        opening=payload.get("opening", ""),
        rendition=_rendition(payload.get("rendition")),
    )


def _rendered(rendition: Rendition | None) -> dict[str, Any] | None:
    """Its runs as one list of numbers, four each."""
    if rendition is None:
        return None
    return {"text": rendition.text, "runs": [number for run in rendition.runs for number in run]}


def _rendition(stored: dict[str, Any] | None) -> Rendition | None:
    if stored is None:
        return None
    numbers: list[int] = stored["runs"]
    size = len(Run._fields)
    starts = range(0, len(numbers), size)
    return Rendition(stored["text"], tuple(Run(*numbers[at : at + size]) for at in starts))
