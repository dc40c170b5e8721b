"""Books and their pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from quire.api.schemas.search import ChunkView
from quire.models import Chunk
from quire.wiring import BookSummary


class TaxonomyView(BaseModel):
    """The values a book allows; an empty list or null means that any is allowed."""

    modules: list[str] = Field(default_factory=list[str])
    tiers: list[int] = Field(default_factory=list[int])
    proficiency_levels: list[str] = Field(default_factory=list[str])
    layers: list[str] = Field(default_factory=list[str])
    chapters: tuple[int, int] | None = None
    lessons: tuple[int, int] | None = None


class BookView(BaseModel):
    """A book that was ingested."""

    id: str
    title: str
    base_url: str | None
    pages: int
    chunks: int
    last_ingested_at: datetime | None
    taxonomy: TaxonomyView
    examples: list[str] = Field(
        default_factory=list[str], description="Questions to start with, if the author gave some."
    )

    @classmethod
    def of(cls, book: BookSummary) -> Self:
        """The wire form of a book."""
        return cls(
            id=book.id,
            title=book.title,
            base_url=book.base_url,
            pages=book.pages,
            chunks=book.chunks,
            last_ingested_at=book.last_ingested_at,
            taxonomy=TaxonomyView.model_validate(dict(book.taxonomy)),
            examples=list(book.examples),
        )


class BookList(BaseModel):
    """All books."""

    books: list[BookView]


class DocumentView(BaseModel):
    """A whole page."""

    book_id: str
    parent_doc_id: str
    page_title: str
    source_file: str
    source_url: str
    chunks: list[ChunkView]

    @classmethod
    def of(cls, book_id: str, chunks: Sequence[Chunk]) -> Self:
        """The wire form of a page's chunks (at least one)."""
        first = chunks[0]
        return cls(
            book_id=book_id,
            parent_doc_id=first.parent_doc_id,
            page_title=first.page_title,
            source_file=first.source_file,
            source_url=first.source_url.partition("#")[0],
            chunks=[ChunkView.of(chunk) for chunk in chunks],
        )


class ChunkContext(BaseModel):
    """A chunk with its neighbours, in page order."""

    book_id: str
    chunk_id: str
    chunks: list[ChunkView]
