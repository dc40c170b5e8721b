"""Ingesting books: the modes, repair and removal, each safe to interrupt and to repeat."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from quire.books import Book, load_book
from quire.concurrency import uninterrupted
from quire.embedding.port import Embedder
from quire.errors import ConfigurationError, QuireError
from quire.index.copy import copy_book
from quire.index.port import EmbedderInfo, Index
from quire.ingestion.ledger import DatabaseLedger, RebuildLedger
from quire.ingestion.pages import rejections
from quire.ingestion.pipeline import BATCH_FILES, BATCH_TEXTS, Pipeline
from quire.ingestion.plan import Plan
from quire.ingestion.progress import Meter, ProgressCallback, Report
from quire.ingestion.state import BookState, Guard, IngestionRecord, IngestionState, LeaseLost
from quire.models import IngestionMode


class Ingester:
    """Keeps index and records in line with the files of books.

    One run per book at a time, and none beside a `recreate`; jobs see to that.
    """

    def __init__(
        self,
        *,
        state: IngestionState,
        index: Index,
        embedder: Embedder,
        batch_texts: int = BATCH_TEXTS,
        batch_files: int = BATCH_FILES,
    ) -> None:
        self._state = state
        self._index = index
        self._embedder = embedder
        self._pipeline = Pipeline(embedder, batch_texts=batch_texts, batch_files=batch_files)
        self._space = EmbedderInfo(embedder.name, embedder.dimension)

    async def plan(self, book: Book, *, mode: IngestionMode = "incremental") -> Plan:
        """What `run` would do; changes nothing. Pages are read, so those that fail are known."""
        known = await self._state.load(book.id)
        survey = await self._pipeline.survey(book, known.records if known else {}, mode=mode)
        files = survey.plan.new + survey.plan.modified
        sources = [survey.scan.sources[file.source_file] for file in files]
        found = [*survey.scan.unreadable, *await asyncio.to_thread(rejections, book, sources)]
        names = {error.source_file for error in found}
        return replace(
            survey.plan,
            new=tuple(file for file in survey.plan.new if file.source_file not in names),
            modified=tuple(file for file in survey.plan.modified if file.source_file not in names),
            rejected=tuple(found),
        )

    async def run(
        self,
        book: Book,
        *,
        mode: IngestionMode = "incremental",
        verify: bool = False,
        progress: ProgressCallback | None = None,
        guard: Guard | None = None,
    ) -> Report:
        """Ingest a book.

        `incremental` does what changed; `full` embeds everything again in place; `recreate`
        builds a new collection beside the old one (see `_recreate`). A run that finds the
        index out of step with the records (a crash, a lost index) verifies of itself.
        Raises `EmbedderMismatch` unless the mode is `recreate`, and `DependencyError`s when a
        store or the embedder fails; files that can't be read are in the report instead.
        """
        meter = Meter(Report(), progress)
        writer = uuid.uuid4().hex
        try:
            if mode == "recreate":
                await self._recreate(book, meter=meter, writer=writer, guard=guard)
            else:
                await self._update(
                    book, mode=mode, verify=verify, meter=meter, writer=writer, guard=guard
                )
        except LeaseLost:
            # The index may have been touched between the last look at the lease and now.
            await self._state.disturb(book.id, writer=writer)
            raise
        await self._state.describe(
            book.id, title=book.title, base_url=book.base_url, details=book.details
        )
        return meter.finish()

    async def repair(
        self,
        book: Book,
        *,
        progress: ProgressCallback | None = None,
        guard: Guard | None = None,
    ) -> Report:
        """Compare files, records and index in full and mend every difference.

        A second call finds none: it processes no file and deletes and writes nothing.
        """
        return await self.run(book, verify=True, progress=progress, guard=guard)

    async def remove(self, book_id: str) -> None:
        """Take a book out of the index and forget it; repeat it if it was interrupted."""
        if await self._index.embedder() is not None:
            await self._index.delete_book(book_id)
            await self._index.commit()
        await self._state.forget(book_id)

    async def _update(
        self,
        book: Book,
        *,
        mode: IngestionMode,
        verify: bool,
        meter: Meter,
        writer: str,
        guard: Guard | None,
    ) -> None:
        await self._index.prepare(self._space)
        known = await self._state.load(book.id)
        settled = known is None or known.settled
        recorded = known.total_chunks if known else 0
        ledger = DatabaseLedger(
            self._state, book, embedder=self._space.name, writer=writer, guard=guard
        )
        await self._pipeline.ingest(
            book,
            index=self._index,
            ledger=ledger,
            records=known.records if known else {},
            meter=meter,
            mode=mode,
            verify=verify or not settled or await self._index.count(book.id) != recorded,
        )
        if not settled:
            await ledger.begin()
        if ledger.has_begun:
            full = mode == "full" or not (known and known.records)
            await self._state.settle(book.id, writer=writer, full=full, guard=guard)

    async def _recreate(
        self, book: Book, *, meter: Meter, writer: str, guard: Guard | None
    ) -> None:
        """Build a new collection with this book and all others, then switch to it.

        With the same embedder the other books' points are copied. With another one they are
        ingested anew from the folders they came from; if one of those is gone the whole
        rebuild is refused before anything is done, since its book would be lost.
        Readers see the old collection until the switch.
        """
        known = await self._state.load(book.id)
        others = await self._others(book.id)
        copied = await self._index.embedder() == self._space
        sources = [] if copied else await self._reopen(others, but=book.id)
        ledger = DatabaseLedger(
            self._state, book, embedder=self._space.name, writer=writer, guard=guard
        )
        rebuilt = await self._index.begin_rebuild(self._space)
        try:
            records = {book.id: await self._build(book, rebuilt, meter)}
            for other in sources:
                records[other.id] = await self._build(other, rebuilt, Meter(Report(), None))
            if copied:
                if known is not None:
                    records[book.id] += await self._keep_failed(known, meter.report, rebuilt)
                for other in await self._index.books():
                    if other != book.id:
                        await copy_book(self._index, rebuilt, other)
            await rebuilt.commit()
            await ledger.begin()
            await uninterrupted(self._switch(rebuilt, records, guard))
        finally:
            await rebuilt.close()
        await self._state.settle(book.id, writer=writer, full=True, guard=guard)

    async def _switch(
        self,
        rebuilt: Index,
        records: Mapping[str, Sequence[IngestionRecord]],
        guard: Guard | None,
    ) -> None:
        await self._index.finish_rebuild(rebuilt)
        await self._state.replace_all(records, embedder=self._space.name, guard=guard)

    async def _build(self, book: Book, index: Index, meter: Meter) -> list[IngestionRecord]:
        ledger = RebuildLedger()
        await self._pipeline.ingest(book, index=index, ledger=ledger, records={}, meter=meter)
        return ledger.records

    async def _keep_failed(
        self, known: BookState, report: Report, rebuilt: Index
    ) -> list[IngestionRecord]:
        """Carry over the last good version of files that can't be read now."""
        kept: list[IngestionRecord] = []
        for position, error in enumerate(report.errors):
            record = known.records.get(error.source_file)
            if record is not None and record.chunk_ids:
                points = await self._index.fetch_points(known.book_id, record.chunk_ids)
                await rebuilt.upsert(points)
                report.errors[position] = error.keeping(record.chunk_count)
                kept.append(record)
        return kept

    async def _reopen(self, others: Sequence[BookState], *, but: str) -> list[Book]:
        """The other books in their folders; `ConfigurationError` names those that can't be read."""
        books, lost = await asyncio.to_thread(_open_all, others)
        known = {other.book_id for other in others} | {but}
        lost += [
            f"{name} (not on record)" for name in await self._index.books() if name not in known
        ]
        if lost:
            raise ConfigurationError(
                "another embedder needs every book to be embedded again, and these can't be read: "
                f"{'; '.join(lost)}; put them back, or remove them from the index first",
                details={"books": lost},
            )
        return books

    async def _others(self, book_id: str) -> list[BookState]:
        states = [await self._state.load(other) for other in await self._state.book_ids()]
        return [state for state in states if state and state.book_id != book_id]


def _open_all(states: Sequence[BookState]) -> tuple[list[Book], list[str]]:
    books: list[Book] = []
    lost: list[str] = []
    for state in states:
        try:
            books.append(load_book(Path(state.root), book_id=state.book_id))
        except QuireError as error:
            lost.append(f"{state.book_id} ({error.message})")
    return books, lost
