import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from quire.ingestion.state import BookOverview
from quire.testing.index import MemoryIndex
from quire.wiring.shelf import Shelf


@dataclass
class _State:
    """Books without a database, that counts what it is asked."""

    book: BookOverview
    looks: int = 0

    async def overviews(self) -> list[BookOverview]:
        return [self.book]

    async def source_files(self, book_id: str) -> list[str]:
        self.looks += 1
        await asyncio.sleep(0)
        return ["intro.md", "z.md"] if self.looks == 1 else ["preface.md", "z.md"]


FIRST = datetime(2026, 1, 1, tzinfo=UTC)
BOOK = BookOverview(
    id="book",
    title="Horses",
    root="/horses",
    base_url=None,
    details={},
    pages=2,
    chunks=2,
    last_ingested_at=FIRST,
)


async def test_a_books_front_is_looked_up_once_for_all_and_again_when_it_changed() -> None:
    state = _State(BOOK)
    shelf = Shelf(state, MemoryIndex())  # type: ignore[arg-type]
    fronts = await asyncio.gather(*(shelf.front("book") for _ in range(20)))
    assert {(front.name, front.pages) for front in fronts} == {("Horses book", ("intro.md",))}
    assert state.looks == 1
    state.book = replace(BOOK, last_ingested_at=FIRST + timedelta(days=1))
    shelf.forget()
    assert (await shelf.front("book")).pages == ("preface.md",)
