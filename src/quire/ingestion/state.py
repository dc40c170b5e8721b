"""What the database knows of ingested books: their folders, and one record per source file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from quire.database import Database
from quire.database.tables import BookRow, PageRow
from quire.errors import Conflict
from quire.models import utc_now


class LeaseLost(Conflict):
    """Another worker took over; what this one did since is not recorded."""


_BATCH = 500  # names per statement; SQLite limits the number of parameters

Guard = Callable[[AsyncSession], Awaitable[None]]
"""Runs inside a recording transaction and raises to undo it (a job's fencing token)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionRecord:
    """What was last ingested from one source file; `chunk_ids` in page order."""

    book_id: str
    source_file: str
    file_hash: str
    size: int
    mtime_ns: int
    """0 when it proves nothing; see `plan.trusted_mtime`."""
    chunk_ids: tuple[str, ...]
    module: str
    chapter: int
    lesson: int
    identity: str
    """How the chunk ids were formed: by `lesson` or by `path`."""
    settings_hash: str
    embedder: str
    ingested_at: datetime = field(default_factory=utc_now)

    @property
    def chunk_count(self) -> int:
        """Number of chunks."""
        return len(self.chunk_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class BookState:
    """A book as it was last ingested."""

    book_id: str
    title: str
    root: str
    collection_name: str
    embedder: str
    settled: bool
    """False while a run is writing, or after one died: index and records may differ."""
    last_full_ingest: datetime | None
    last_incremental_update: datetime | None
    records: Mapping[str, IngestionRecord]

    @property
    def total_chunks(self) -> int:
        """Chunks currently indexed."""
        return sum(record.chunk_count for record in self.records.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class BookOverview:
    """A book as it stands in a list."""

    id: str
    title: str
    root: str
    base_url: str | None
    details: Mapping[str, Any]
    pages: int
    chunks: int
    last_ingested_at: datetime | None


class IngestionState:
    """The store of book states. Only what is durable in the index is ever recorded here."""

    def __init__(self, database: Database, *, collection_name: str = "quire") -> None:
        self._database = database
        self.collection_name = collection_name

    async def book_ids(self) -> list[str]:
        """All books, in id order."""
        async with self._database.transaction(read_only=True) as session:
            return list(await session.scalars(select(BookRow.id).order_by(BookRow.id)))

    async def load(self, book_id: str) -> BookState | None:
        """The book with all its records; None if it was never ingested."""
        async with self._database.transaction(read_only=True) as session:
            book = await session.get(BookRow, book_id)
            if book is None:
                return None
            rows = await session.scalars(
                select(PageRow).where(PageRow.book_id == book_id).order_by(PageRow.source_file)
            )
            records = {row.source_file: _record(row) for row in rows}
        return BookState(
            book_id=book.id,
            title=book.title,
            root=book.root,
            collection_name=book.collection_name,
            embedder=book.embedder,
            settled=book.writer is None,
            last_full_ingest=book.last_full_ingest,
            last_incremental_update=book.last_incremental_update,
            records=records,
        )

    async def source_files(self, book_id: str) -> list[str]:
        """The files of the book's pages, in order; drafts and empty files are none."""
        query = (
            select(PageRow.source_file)
            .where(PageRow.book_id == book_id, PageRow.chunk_count > 0)
            .order_by(PageRow.source_file)
        )
        async with self._database.transaction(read_only=True) as session:
            return list(await session.scalars(query))

    async def begin(
        self,
        book_id: str,
        *,
        title: str,
        root: str,
        embedder: str,
        writer: str,
        base_url: str | None = None,
        details: Mapping[str, Any] | None = None,
        guard: Guard | None = None,
    ) -> None:
        """Announce that `writer` will change the index; must precede its first write there.

        Until `settle` by the same writer the book counts as unsettled, so that a later run
        knows it has to compare index and records.
        """
        values = {
            "title": title,
            "root": root,
            "collection_name": self.collection_name,
            "embedder": embedder,
            "writer": writer,
            "base_url": base_url,
            "details": dict(details or {}),
        }
        async with self._database.transaction() as session:
            if guard:
                await guard(session)
            insert = self._database.insert(BookRow)
            await session.execute(
                insert.values(id=book_id, created_at=utc_now(), **values).on_conflict_do_update(
                    index_elements=["id"], set_=values
                )
            )

    async def describe(
        self, book_id: str, *, title: str, base_url: str | None, details: Mapping[str, Any]
    ) -> None:
        """Note what the book says of itself now, if it is known; writes only what changed."""
        said = {"title": title, "base_url": base_url, "details": dict(details)}
        async with self._database.transaction(read_only=True) as session:
            book = await session.get(BookRow, book_id)
            if book is None or all(getattr(book, name) == said[name] for name in said):
                return
        async with self._database.transaction() as session:
            await session.execute(update(BookRow).where(BookRow.id == book_id).values(**said))

    async def overviews(self) -> list[BookOverview]:
        """All books in id order, without their records."""
        pages = (
            select(
                PageRow.book_id,
                func.count().label("pages"),
                func.sum(PageRow.chunk_count).label("chunks"),
            )
            .where(PageRow.chunk_count > 0)  # drafts and empty files are no pages to readers
            .group_by(PageRow.book_id)
            .subquery()
        )
        query = (
            select(BookRow, pages.c.pages, pages.c.chunks)
            .outerjoin(pages, pages.c.book_id == BookRow.id)
            .order_by(BookRow.id)
        )
        async with self._database.transaction(read_only=True) as session:
            rows = await session.execute(query)
            return [_overview(book, count or 0, int(chunks or 0)) for book, count, chunks in rows]

    async def check(self, guard: Guard | None) -> None:
        """Raise what the guard raises."""
        if guard:
            async with self._database.transaction() as session:
                await guard(session)

    async def record(
        self,
        book_id: str,
        records: Sequence[IngestionRecord],
        *,
        forget: Collection[str] = (),
        guard: Guard | None = None,
    ) -> None:
        """Replace these records and drop those of `forget`, in one transaction."""
        async with self._database.transaction() as session:
            if guard:
                await guard(session)
            await self._replace(session, book_id, records, forget)

    async def replace_all(
        self,
        states: Mapping[str, Sequence[IngestionRecord]],
        *,
        embedder: str,
        guard: Guard | None = None,
    ) -> None:
        """Make these the only records of these books, in one transaction (after a rebuild)."""
        async with self._database.transaction() as session:
            if guard:
                await guard(session)
            await session.execute(
                update(BookRow).where(BookRow.id.in_(states)).values(embedder=embedder)
            )
            for book_id, records in states.items():
                await session.execute(delete(PageRow).where(PageRow.book_id == book_id))
                await self._replace(session, book_id, records, ())

    async def settle(
        self, book_id: str, *, writer: str, full: bool, guard: Guard | None = None
    ) -> bool:
        """Note that `writer` is done; False if another one wrote meanwhile (still unsettled)."""
        moment = {"last_full_ingest" if full else "last_incremental_update": utc_now()}
        async with self._database.transaction() as session:
            if guard:
                await guard(session)
            done = await session.scalars(
                update(BookRow)
                .where(BookRow.id == book_id, BookRow.writer == writer)
                .values(writer=None, **moment)
                .returning(BookRow.id)
            )
            return done.first() is not None

    async def disturb(self, book_id: str, *, writer: str) -> None:
        """Mark the book unsettled: `writer` lost its lease and may have touched the index."""
        async with self._database.transaction() as session:
            await session.execute(
                update(BookRow).where(BookRow.id == book_id).values(writer=writer)
            )

    async def forget(self, book_id: str) -> None:
        """Drop the book and its records."""
        async with self._database.transaction() as session:
            await session.execute(delete(BookRow).where(BookRow.id == book_id))

    async def _replace(
        self,
        session: AsyncSession,
        book_id: str,
        records: Sequence[IngestionRecord],
        forget: Collection[str],
    ) -> None:
        gone = sorted({*forget, *(record.source_file for record in records)})
        for start in range(0, len(gone), _BATCH):
            await session.execute(
                delete(PageRow).where(
                    PageRow.book_id == book_id,
                    PageRow.source_file.in_(gone[start : start + _BATCH]),
                )
            )
        if records:
            await session.execute(
                self._database.insert(PageRow), [_values(record) for record in records]
            )


def _overview(book: BookRow, pages: int, chunks: int) -> BookOverview:
    moments = [m for m in (book.last_full_ingest, book.last_incremental_update) if m]
    return BookOverview(
        id=book.id,
        title=book.title,
        root=book.root,
        base_url=book.base_url,
        details=book.details,
        pages=pages,
        chunks=chunks,
        last_ingested_at=max(moments, default=None),
    )


def _values(record: IngestionRecord) -> dict[str, Any]:
    return {
        **{name: getattr(record, name) for name in record.__slots__},
        "chunk_ids": list(record.chunk_ids),
        "chunk_count": record.chunk_count,
    }


def _record(row: PageRow) -> IngestionRecord:
    values: dict[str, Any] = {name: getattr(row, name) for name in IngestionRecord.__slots__}
    values["chunk_ids"] = tuple(row.chunk_ids)
    return IngestionRecord(**values)
