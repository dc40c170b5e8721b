"""Searches, and the pieces of pages they find."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field

from quire.api.schemas.fields import BookId, FilterValue, Request, unit
from quire.models import Chunk, Passage, Retrieval


class SearchRequest(Request):
    """A search with filters; all conditions must hold."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"text": "quality of service", "module_filter": "ros2", "limit": 3},
            ]
        },
    )

    text: str = Field(min_length=3, max_length=2000, description="What to look for.")
    book_id: BookId | None = None
    hardware_tier_filter: int | None = Field(
        default=None, ge=1, le=4, description="This tier or a lower one."
    )
    module_filter: str | None = None
    chapter_min: int | None = Field(default=None, ge=0)
    chapter_max: int | None = Field(default=None, ge=0)
    lesson_filter: int | None = Field(default=None, ge=0)
    proficiency_levels: list[str] | None = Field(default=None, description="Any of these.")
    layer_filter: str | None = None
    parent_doc_id: str | None = None
    filters: dict[str, FilterValue] | None = Field(
        default=None, description="The same names as in `/chat`."
    )
    score_threshold: float = Field(default=0.0, ge=0.0, le=1.0)
    limit: int = Field(default=5, ge=1, le=20)

    def filter_values(self) -> dict[str, FilterValue]:
        """The conditions of both spellings under one set of names."""
        named: dict[str, FilterValue | None] = {
            "hardware_tier": self.hardware_tier_filter,
            "module": self.module_filter,
            "chapter_min": self.chapter_min,
            "chapter_max": self.chapter_max,
            "lesson": self.lesson_filter,
            "proficiency_levels": self.proficiency_levels,
            "layer": self.layer_filter,
            "parent_doc_id": self.parent_doc_id,
        }
        given = {name: value for name, value in named.items() if value is not None}
        return {**given, **(self.filters or {})}


class ChunkView(BaseModel):
    """A stored piece of a page."""

    id: str
    text: str
    source_file: str
    source_url: str
    page_title: str
    section_title: str | None
    breadcrumb: str
    module: str
    chapter: int
    lesson: int
    hardware_tier: int
    proficiency_level: str
    layer: str
    chunk_index: int
    total_chunks: int
    parent_doc_id: str | None
    prev_chunk_id: str | None
    next_chunk_id: str | None
    content_hash: str | None
    char_start: int
    char_end: int
    line_start: int
    line_end: int

    @classmethod
    def of(cls, chunk: Chunk) -> Self:
        """The wire form of a chunk."""
        return cls(**{name: getattr(chunk, name) for name in ChunkView.model_fields})


class SearchResult(ChunkView):
    """A passage that was found."""

    score: float = Field(ge=0.0, le=1.0, description="Calibrated relevance.")
    cosine: float

    @classmethod
    def of_passage(cls, passage: Passage) -> Self:
        """The wire form of a passage."""
        chunk = {name: getattr(passage.chunk, name) for name in ChunkView.model_fields}
        return cls(score=unit(passage.score), cosine=passage.cosine, **chunk)


class SearchResponse(BaseModel):
    """What was found, best first, and the filters that applied."""

    query: str
    results: list[SearchResult]
    total_found: int
    hardware_tier_filter: int | None
    module_filter: str | None
    book_id: str
    applied_filters: dict[str, Any]

    @classmethod
    def of(cls, retrieval: Retrieval, book_id: str) -> Self:
        """The wire form of a retrieval."""
        return cls(
            query=retrieval.query,
            results=[SearchResult.of_passage(p) for p in retrieval.passages],
            total_found=len(retrieval.passages),
            hardware_tier_filter=retrieval.filters.hardware_tier,
            module_filter=retrieval.filters.module,
            book_id=book_id,
            applied_filters=retrieval.filters.applied(),
        )
