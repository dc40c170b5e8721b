"""The MCP server: tools `search`, `fetch`, `search_docs`, `ask`, and a resource per page."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp_types import Resource, ToolAnnotations
from pydantic import Field

from quire import __version__
from quire.access import Caller
from quire.errors import NotFound, QuireError
from quire.mcp.results import CitedAnswer, DocPassage, DocPassageList, Fetched, FoundList
from quire.wiring import Ask, BookSummary, Library

INSTRUCTIONS = """\
Answers from a book, and only from it. `ask` gives a cited answer or says that the book doesn't
answer; `search_docs` gives passages with their text; `search` and `fetch` do so in two steps.
"""
READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Query = Annotated[str, Field(min_length=3, max_length=2000, description="What to look for.")]
Question = Annotated[str, Field(min_length=1, max_length=2000, description="The question.")]
BookId = Annotated[
    str | None, Field(max_length=200, description="Which book; not needed when there is one.")
]
Limit = Annotated[int, Field(ge=1, le=20, description="How many passages.")]

_LOCAL = Caller()
_caller: ContextVar[Caller] = ContextVar("quire_mcp_caller", default=_LOCAL)


@contextmanager
def speaking_for(caller: Caller) -> Generator[None]:
    """Everything in the block is asked by this caller; outside it is the local user."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def create_server(library: Library) -> MCPServer[Any]:
    """A server over the library; its tools only read."""
    server = BookServer(library)
    for tool in (server.search, server.fetch, server.search_docs, server.ask):
        server.add_tool(tool, annotations=READ_ONLY, structured_output=True)
    server.resource(
        "quire://{book_id}/{parent_doc_id}",
        name="page",
        title="A page of the book",
        mime_type="text/markdown",
    )(server.page)
    return server


class BookServer(MCPServer[Any]):
    """Tools over a library; each call is bound to the books its caller may see."""

    def __init__(self, library: Library) -> None:
        super().__init__(
            "quire",
            title="Quire",
            version=__version__,
            instructions=INSTRUCTIONS,
            log_level="WARNING",
        )
        self._library = library

    async def search(self, query: Query) -> FoundList:
        """Find passages of the book; read one with `fetch`."""
        with _explained():
            book = await self._book(None)
            return FoundList.of(await self._library.search(query, book_id=book.id, top_k=10))

    async def fetch(
        self, id: Annotated[str, Field(max_length=100, description="From `search`.")]
    ) -> Fetched:
        """Read a passage of the book."""
        with _explained():
            for book in await self._visible():
                try:
                    return Fetched.of_chunk((await self._library.context(book.id, id))[0])
                except NotFound:
                    continue
            raise NotFound(f"there is no passage '{id}'")

    async def search_docs(
        self, query: Query, book_id: BookId = None, limit: Limit = 5
    ) -> DocPassageList:
        """Find passages of the book, with their text."""
        with _explained():
            book = await self._book(book_id)
            found = await self._library.search(query, book_id=book.id, top_k=limit)
            return DocPassageList(results=[DocPassage.of(p) for p in found.passages])

    async def ask(self, question: Question, book_id: BookId = None) -> CitedAnswer:
        """Ask the book; the answer is made of its sentences and cites them, or says it can't."""
        caller = _caller.get()
        if caller.key is not None and not caller.key.scopes & {"chat", "admin"}:
            raise ToolError("this key lacks the scope 'chat'")
        with _explained():
            book = await self._book(book_id)
            ask = Ask(
                text=question,
                book_id=book.id,
                owner=caller.owner,
                key_id=caller.key_id,
                channel="mcp",
            )
            return CitedAnswer.of(await self._library.ask(ask))

    async def page(self, book_id: str, parent_doc_id: str) -> str:
        """A whole page as Markdown."""
        try:
            book = await self._book(book_id)
            chunks = await self._library.document(book.id, parent_doc_id)
        except NotFound as error:
            raise ResourceNotFoundError(error.message) from error
        except QuireError as error:
            raise ResourceError(error.message) from error
        return "\n\n".join(chunk.markdown for chunk in chunks)

    async def list_resources(self) -> list[Resource]:
        """Every page of the books the caller may see."""
        return [
            Resource(
                uri=f"quire://{book.id}/{page.parent_doc_id}",
                name=page.title,
                description=page.source_url,
                mime_type="text/markdown",
            )
            for book in await self._visible()
            for page in await self._library.pages(book.id)
        ]

    async def _book(self, book_id: str | None) -> BookSummary:
        return await self._library.book(_caller.get().book(book_id))

    async def _visible(self) -> list[BookSummary]:
        caller = _caller.get()
        return [book for book in await self._library.books() if caller.sees(book.id)]


@contextmanager
def _explained() -> Generator[None]:
    """Our errors as errors of the tool: one clear line, no trace."""
    try:
        yield
    except QuireError as error:
        raise ToolError(error.message) from error
