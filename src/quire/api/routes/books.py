"""The books and what is in them: `/books`, `/documents`, `/chunks`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from quire.api.dependencies import LibraryDependency, SearchCaller
from quire.api.errors import GUARDED, responses
from quire.api.schemas.books import BookList, BookView, ChunkContext, DocumentView
from quire.api.schemas.fields import UUID_PATTERN
from quire.api.schemas.search import ChunkView

router = APIRouter(tags=["books"])

BookQuery = Annotated[
    str | None,
    Query(max_length=200, description="Which book; not needed when there is only one."),
]
IdPath = Annotated[str, Path(pattern=UUID_PATTERN)]


@router.get("/books", responses=responses(*GUARDED))
async def books(library: LibraryDependency, caller: SearchCaller) -> BookList:
    """The books the caller can ask."""
    found = [book for book in await library.books() if caller.sees(book.id)]
    return BookList(books=[BookView.of(book) for book in found])


@router.get("/documents/{parent_doc_id}", responses=responses(*GUARDED, 404, 422))
async def document(
    parent_doc_id: IdPath,
    library: LibraryDependency,
    caller: SearchCaller,
    book_id: BookQuery = None,
) -> DocumentView:
    """A whole page: its chunks in order."""
    book = await library.book(caller.book(book_id))
    return DocumentView.of(book.id, await library.document(book.id, parent_doc_id))


@router.get("/chunks/{chunk_id}", responses=responses(*GUARDED, 404, 422))
async def chunk(
    chunk_id: IdPath,
    library: LibraryDependency,
    caller: SearchCaller,
    book_id: BookQuery = None,
    before: Annotated[int, Query(ge=0, le=10, description="Chunks before it.")] = 0,
    after: Annotated[int, Query(ge=0, le=10, description="Chunks after it.")] = 0,
) -> ChunkContext:
    """A chunk with its neighbours along the chain."""
    book = await library.book(caller.book(book_id))
    chunks = await library.context(book.id, chunk_id, before=before, after=after)
    return ChunkContext(
        book_id=book.id, chunk_id=chunk_id, chunks=[ChunkView.of(chunk) for chunk in chunks]
    )
