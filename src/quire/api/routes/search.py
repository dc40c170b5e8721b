"""Finding passages: `/search`."""

from __future__ import annotations

from fastapi import APIRouter

from quire.api.dependencies import LibraryDependency, SearchCaller, Slot
from quire.api.errors import GUARDED, responses
from quire.api.schemas.search import SearchRequest, SearchResponse

router = APIRouter(tags=["search"], dependencies=[Slot])


@router.post("/search", responses=responses(*GUARDED, 404, 409, 413, 422))
async def search(
    body: SearchRequest, library: LibraryDependency, caller: SearchCaller
) -> SearchResponse:
    """The passages nearest to a text, best first, within the filters."""
    book = await library.book(caller.book(body.book_id))
    retrieval = await library.search(
        body.text,
        book_id=book.id,
        filters=body.filter_values(),
        top_k=body.limit,
        score_threshold=body.score_threshold,
    )
    return SearchResponse.of(retrieval, book.id)
