"""Moves books between the embedded index and a Qdrant server; nothing is embedded again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from quire.errors import NotFound
from quire.index.copy import copy_book
from quire.settings import Settings
from quire.wiring.adapters import open_embedded_index, open_server_index

Progress = Callable[[str, int, int], None]
"""Called with the book, the chunks copied so far and the chunks in all."""


async def copy_index(
    settings: Settings,
    book_ids: Sequence[str] = (),
    *,
    to_server: bool = True,
    progress: Progress | None = None,
) -> dict[str, int]:
    """Make books on the other side equal to this one's; returns the chunks of each book.

    All books if none is named. The source stays as it is. Raises `NotFound` for a book the
    source doesn't have, before anything is written.
    """
    async with AsyncExitStack() as resources:
        server = open_server_index(settings)
        resources.push_async_callback(server.close)
        embedded = await open_embedded_index(settings)
        resources.push_async_callback(embedded.close)
        source, target = (embedded, server) if to_server else (server, embedded)
        known = await source.books()
        for book_id in book_ids:
            if book_id not in known:
                place = "the data folder" if to_server else "the Qdrant server"
                raise NotFound(f"{place} has no book '{book_id}'", details={"book_id": book_id})
        copied: dict[str, int] = {}
        for book_id in book_ids or known:
            copied[book_id] = await copy_book(
                source, target, book_id, _of_book(book_id, progress) if progress else None
            )
        return copied


def _of_book(book_id: str, progress: Progress) -> Callable[[int, int], None]:
    return lambda done, total: progress(book_id, done, total)
