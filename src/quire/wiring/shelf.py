"""The books there are, and the pages in them; looked up at most once a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

from quire.answering.introduction import Front
from quire.books.front import front_pages
from quire.errors import InvalidRequest, NotFound
from quire.index.port import Index
from quire.ingestion.state import IngestionState
from quire.models import Chunk
from quire.wiring.values import BookSummary, PageSummary

FRESH_S = 1.0


class Shelf:
    """Every question names a book, so what the database says of books is kept for a moment."""

    def __init__(self, state: IngestionState, index: Index) -> None:
        self._state = state
        self._index = index
        self._books: dict[str, BookSummary] = {}
        self._expires = 0.0
        self._looking = asyncio.Lock()
        self._fronts: dict[str, tuple[object, Front]] = {}
        self._pages: dict[str, tuple[object, list[PageSummary]]] = {}

    async def books(self) -> list[BookSummary]:
        """All books, in id order."""
        if time.monotonic() >= self._expires:
            async with self._looking:  # one look for all who wait
                if time.monotonic() >= self._expires:
                    found = await self._state.overviews()
                    self._books = {book.id: BookSummary.of(book) for book in found}
                    self._expires = time.monotonic() + FRESH_S
        return list(self._books.values())

    async def book(self, book_id: str | None) -> BookSummary:
        """The book with this id; the only one when no id is given."""
        books = await self._looked_up(book_id)
        if book_id is not None:
            if book_id not in books:
                raise NotFound(f"there is no book '{book_id}'", details={"book_id": book_id})
            return books[book_id]
        if len(books) == 1:
            return next(iter(books.values()))
        raise InvalidRequest(
            f"book_id: say which book; there are {', '.join(books)}"
            if books
            else "there is no book yet; add one with: quire ingest PATH",
            field="book_id",
            books=list(books),
        )

    def forget(self) -> None:
        """Look again at the next call: a book has changed."""
        self._expires = 0.0

    async def pages(self, book: BookSummary) -> list[PageSummary]:
        """The book's pages in the order of their files."""
        known = self._pages.get(book.id)
        if known is not None and known[0] == book.last_ingested_at:
            return known[1]
        first = {c.source_file: c async for c in self.chunks(book.id) if c.chunk_index == 0}
        pages = [
            PageSummary(
                parent_doc_id=chunk.parent_doc_id,
                title=chunk.page_title,
                source_url=chunk.source_url.partition("#")[0],
                source_file=chunk.source_file,
                module=chunk.module,
            )
            for _, chunk in sorted(first.items())
        ]
        self._pages[book.id] = (book.last_ingested_at, pages)
        return pages

    async def front(self, book_id: str) -> Front:
        """What a book is called, and the pages that introduce it."""
        book = await self.book(book_id)
        version = (book.title, book.last_ingested_at)
        if self._fronts.get(book.id, (None,))[0] != version:
            async with self._looking:  # one look for all who wait
                if self._fronts.get(book.id, (None,))[0] != version:
                    pages = front_pages(await self._state.source_files(book.id))
                    self._fronts[book.id] = (version, Front(f"{book.title} {book.id}", pages))
        return self._fronts[book.id][1]

    async def chunks(self, book_id: str) -> AsyncGenerator[Chunk]:
        """Every chunk the index holds of a book."""
        after: str | None = None
        while True:
            chunks, after = await self._index.scroll(book_id, after=after, limit=1000)
            for chunk in chunks:
                yield chunk
            if after is None:
                return

    async def _looked_up(self, book_id: str | None) -> dict[str, BookSummary]:
        await self.books()
        missing = not self._books if book_id is None else book_id not in self._books
        if missing:
            self.forget()
            await self.books()
        return self._books
