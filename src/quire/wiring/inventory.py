"""What a backup holds: each book, and whether its records and its chunks agree."""

from __future__ import annotations

import json
from pathlib import Path

from quire.database.dump import Row
from quire.index.port import Index
from quire.ingestion.invariants import check_chunks
from quire.models import Chunk
from quire.wiring.manifest import BackedUpBook


async def books_of(database: Path, index: Index) -> list[BackedUpBook]:
    """Each book of a backup; settled when its records name just the chunks of the index."""
    recorded: dict[str, set[str]] = {}
    pages: dict[str, int] = {}
    for row in _lines(database / "pages.jsonl"):
        recorded.setdefault(row["book_id"], set()).update(row["chunk_ids"])
        pages[row["book_id"]] = pages.get(row["book_id"], 0) + 1
    books: list[BackedUpBook] = []
    for row in _lines(database / "books.jsonl"):
        chunks = await chunks_of(index, row["id"])
        same = {chunk.id for chunk in chunks} == recorded.get(row["id"], set())
        books.append(
            BackedUpBook(
                id=row["id"],
                pages=pages.get(row["id"], 0),
                chunks=len(chunks),
                settled=row["writer"] is None and same and not check_chunks(chunks),
            )
        )
    return books


async def chunks_of(index: Index, book_id: str) -> list[Chunk]:
    """All chunks of a book."""
    chunks: list[Chunk] = []
    cursor: str | None = None
    while True:
        page, cursor = await index.scroll(book_id, after=cursor)
        chunks += page
        if cursor is None:
            return chunks


def _lines(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]
