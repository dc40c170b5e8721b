"""Where a run notes what it has made durable in the index."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from quire.books import Book
from quire.ingestion.state import Guard, IngestionRecord, IngestionState


class Ledger(Protocol):
    """The writer's side of the records."""

    async def begin(self) -> None:
        """Called before every change to the index; raises if this run may not write."""
        ...

    async def record(self, records: Sequence[IngestionRecord], *, forget: Collection[str]) -> None:
        """Called after the change is durable."""
        ...


class DatabaseLedger:
    """Records in the database at once, under the job's guard."""

    def __init__(
        self,
        state: IngestionState,
        book: Book,
        *,
        embedder: str,
        writer: str,
        guard: Guard | None,
    ) -> None:
        self._state = state
        self._book = book
        self._embedder = embedder
        self._writer = writer
        self._guard = guard
        self.has_begun = False

    async def begin(self) -> None:
        """Mark the book as being written the first time, look at the guard every time."""
        if self.has_begun:
            await self._state.check(self._guard)
            return
        await self._state.begin(
            self._book.id,
            title=self._book.title,
            root=str(self._book.root),
            embedder=self._embedder,
            writer=self._writer,
            base_url=self._book.base_url,
            details=self._book.details,
            guard=self._guard,
        )
        self.has_begun = True

    async def record(self, records: Sequence[IngestionRecord], *, forget: Collection[str]) -> None:
        """One transaction per batch."""
        await self._state.record(self._book.id, records, forget=forget, guard=self._guard)


class RebuildLedger:
    """Keeps the records until the rebuilt collection takes the old one's place."""

    def __init__(self) -> None:
        self.records: list[IngestionRecord] = []

    async def begin(self) -> None:
        """Nobody else sees the collection that is being built."""

    async def record(self, records: Sequence[IngestionRecord], *, forget: Collection[str]) -> None:
        """Only additions: the rebuilt collection started empty."""
        self.records.extend(records)
