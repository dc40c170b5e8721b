"""The books and what is in them: `/books`, `/documents`, `/chunks`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from quire.api.dependencies import LibraryDependency
from quire.api.errors import responses
from quire.api.schemas import BookList, BookView, ChunkContext, ChunkView, DocumentView

router = APIRouter(tags=["books"])

BookQuery = Annotated[
    str | None, Query(description="Which book; not needed when there is only one.")
]


@router.get("/books", responses=responses(500, 503))
async def books(library: LibraryDependency) -> BookList:
    """All books that were ingested."""
    return BookList(books=[BookView.of(book) for book in await library.books()])


@router.get("/documents/{parent_doc_id}", responses=responses(404, 422, 500, 503))
async def document(
    parent_doc_id: str, library: LibraryDependency, book_id: BookQuery = None
) -> DocumentView:
    """A whole page: its chunks in order."""
    book = await library.book(book_id)
    return DocumentView.of(book.id, await library.document(book.id, parent_doc_id))


@router.get("/chunks/{chunk_id}", responses=responses(404, 422, 500, 503))
async def chunk(
    chunk_id: str,
    library: LibraryDependency,
    book_id: BookQuery = None,
    before: Annotated[int, Query(ge=0, le=10, description="Chunks before it.")] = 0,
    after: Annotated[int, Query(ge=0, le=10, description="Chunks after it.")] = 0,
) -> ChunkContext:
    """A chunk with its neighbours along the chain."""
    book = await library.book(book_id)
    chunks = await library.context(book.id, chunk_id, before=before, after=after)
    return ChunkContext(
        book_id=book.id, chunk_id=chunk_id, chunks=[ChunkView.of(chunk) for chunk in chunks]
    )
