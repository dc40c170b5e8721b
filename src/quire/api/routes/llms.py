"""The book for other assistants: `/llms.txt` and `/llms-full.txt`."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse, StreamingResponse

from quire.api.dependencies import LibraryDependency, SearchCaller
from quire.api.errors import GUARDED, responses
from quire.api.routes.books import BookQuery
from quire.wiring import BookSummary, Library, PageSummary

router = APIRouter(tags=["books"])

ERRORS = responses(*GUARDED, 404, 422)


@router.get("/llms.txt", response_class=PlainTextResponse, responses=ERRORS)
async def llms(
    library: LibraryDependency, caller: SearchCaller, book_id: BookQuery = None
) -> PlainTextResponse:
    """The table of contents of a book, with a link to each page."""
    book = await library.book(caller.book(book_id))
    return PlainTextResponse(contents(book, await library.pages(book.id)))


@router.get(
    "/llms-full.txt",
    response_class=PlainTextResponse,
    responses={200: {"description": "All pages as Markdown."}, **ERRORS},
)
async def llms_full(
    library: LibraryDependency, caller: SearchCaller, book_id: BookQuery = None
) -> StreamingResponse:
    """The whole text of a book, page after page."""
    book = await library.book(caller.book(book_id))
    pages = await library.pages(book.id)
    return StreamingResponse(whole(library, book, pages), media_type="text/plain; charset=utf-8")


def contents(book: BookSummary, pages: list[PageSummary]) -> str:
    """H1, a summary, and a section of links for each module."""
    lines = [f"# {plain(book.title)}", "", f"> {book.pages} pages, answered by Quire."]
    module: str | None = None
    for page in pages:
        if page.module != module:
            module = page.module
            lines += ["", f"## {'Pages' if module in ('', 'root') else plain(module)}", ""]
        lines.append(f"- [{plain(page.title)}]({page.source_url})")
    return "\n".join(lines) + "\n"


async def whole(
    library: Library, book: BookSummary, pages: list[PageSummary]
) -> AsyncIterator[str]:
    """The pages one at a time, so that a large book needs no large answer in memory."""
    yield f"# {plain(book.title)}\n"
    for page in pages:
        chunks = await library.searcher.document(book.id, page.parent_doc_id)
        own = [chunk.markdown for chunk in chunks if chunk.source_file == page.source_file]
        yield f"\n## {plain(page.title)}\n\n{page.source_url}\n\n" + "\n\n".join(own) + "\n"


def plain(text: str) -> str:
    """A title on one line that can't close the brackets it stands in."""
    return " ".join(text.split()).replace("[", "(").replace("]", ")")
