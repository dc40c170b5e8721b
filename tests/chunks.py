"""Chunks for tests that care about a field or two."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass
from typing import Any

from quire.index.finds import Finds
from quire.models import NAMESPACE, Chunk


def make_chunk(text: str = "Some text of a page.", **fields: Any) -> Chunk:
    """A valid single chunk of a page; `fields` override."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    defaults: dict[str, Any] = {
        "id": str(uuid.uuid5(NAMESPACE, text)),
        "text": text,
        "book_id": "book",
        "source_file": "page.md",
        "module": "module",
        "chapter": 0,
        "lesson": 0,
        "page_title": "Page",
        "section_title": None,
        "section_path": (),
        "breadcrumb": "Page",
        "source_url": "/page",
        "language": "en",
        "hardware_tier": 1,
        "proficiency_level": "A2",
        "layer": "L1",
        "char_start": 0,
        "char_end": len(text),
        "line_start": 1,
        "line_end": 1 + text.count("\n"),
        "parent_doc_id": str(uuid.uuid5(NAMESPACE, "parent")),
        "chunk_index": 0,
        "total_chunks": 1,
        "prev_chunk_id": None,
        "next_chunk_id": None,
        "content_hash": digest,
        "source_file_hash": digest,
        "embedded_hash": digest,
        "word_count": len(text.split()),
        "token_count": max(1, int(len(text.split()) * 1.3)),
        "char_count": len(text),
    }
    return Chunk(**{**defaults, **fields})


@dataclass
class All:
    """A ranking that takes every find, in the order in which it comes."""

    finds: Finds

    @property
    def rows(self) -> range:
        return range(len(self.finds))
