"""Restore: a backup, checked first, in the place of an empty (or given up) database and index.

The order makes a crash harmless: the database comes first, with every book marked as
unsettled; then the index, in one step; then the marks of the books that agree are cleared.
What is still marked is compared in full by the book's next ingest.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import update

from quire.database import Database
from quire.database.dump import Row, is_empty, load
from quire.database.schema import HEAD
from quire.database.tables import BookRow
from quire.errors import ConfigurationError, Conflict, StorageUnavailable
from quire.index.copy import copy_book
from quire.index.payload import SCHEMA_VERSION
from quire.index.port import EmbedderInfo, Index
from quire.ingestion.invariants import check_chunks
from quire.settings import Settings
from quire.wiring.adapters import open_index
from quire.wiring.inventory import chunks_of
from quire.wiring.manifest import Manifest, Progress
from quire.wiring.opening import open_database

RESTORING = "restore"
"""The writer of every book until the index is in place."""
ENDED = "the database was restored from a backup; start the job again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did."""

    manifest: Manifest
    rows: dict[str, int]
    unsettled: tuple[str, ...]
    """Books whose ingest was under way; `quire ingest` or `quire doctor --repair` finishes it."""


async def restore(
    settings: Settings, source: Path, *, force: bool = False, progress: Progress | None = None
) -> Restored:
    """Check a backup and put it in place; `force` replaces what is there."""
    manifest = await asyncio.to_thread(Manifest.read, source)
    _check_versions(manifest)
    await asyncio.to_thread(manifest.check_files, source, progress)
    async with AsyncExitStack() as resources:
        if settings.qdrant_url is None:
            # before anything is touched: nobody may have the store open
            from quire.index.edge import lock_folder

            lock = await asyncio.to_thread(lock_folder, settings.index_path)
            resources.callback(lock.release)
        database = await open_database(settings, resources)
        if not force and not await is_empty(database):
            raise Conflict(
                f"there is data already ({database.dialect}); --force replaces all of it, "
                "also keys and conversations"
            )
        rows = await load(database, source / "database", _as_restored)
        try:
            await _put_index(settings, source / "index", manifest, progress)
        except OSError as error:
            raise StorageUnavailable(f"can't write the index: {error}") from error
    unsettled = await _settle(settings, manifest)
    return Restored(manifest=manifest, rows=rows, unsettled=tuple(unsettled))


def _check_versions(manifest: Manifest) -> None:
    if manifest.revision > HEAD:
        raise ConfigurationError(
            f"the backup was made by a newer Quire ({manifest.quire}); upgrade this one"
        )
    if manifest.index_schema != SCHEMA_VERSION:
        raise ConfigurationError(
            f"the backup's index has schema {manifest.index_schema}, this version reads "
            f"{SCHEMA_VERSION}; restore it with Quire {manifest.quire}"
        )


def _as_restored(table: str, row: Row) -> Row:
    """Work that was under way when the backup was made has ended."""
    if table == "books":
        return {**row, "writer": RESTORING}
    if table == "ingestion_jobs" and row["status"] in ("queued", "running"):
        return {**row, "status": "failed", "error_message": ENDED, "lease_expires_at": None}
    if table == "conversations" and row["status"] == "in_progress":
        return {**row, "status": "aborted", "lease_expires_at": None}
    return row


async def _put_index(
    settings: Settings, source: Path, manifest: Manifest, progress: Progress | None
) -> None:
    from quire.index.snapshot import copy_in, remove

    if settings.qdrant_url is not None:
        await _send(settings, source, manifest, progress)
    elif manifest.embedder is None:
        await asyncio.to_thread(remove, settings.index_path, settings.qdrant_collection_name)
    else:
        report = partial(progress, "index") if progress else None
        await asyncio.to_thread(
            copy_in, source, settings.index_path, settings.qdrant_collection_name, report
        )


async def _send(
    settings: Settings, source: Path, manifest: Manifest, progress: Progress | None
) -> None:
    """Build a collection on the server beside the current one, then switch to it."""
    index = await open_index(settings)
    try:
        if manifest.embedder is None or manifest.dimension is None:
            return
        rebuilt = await index.begin_rebuild(EmbedderInfo(manifest.embedder, manifest.dimension))
        try:
            async with _opened(source, settings.home / "restoring") as copy:
                for done, book_id in enumerate(await copy.books(), start=1):
                    await copy_book(copy, rebuilt, book_id)
                    if progress is not None:
                        progress("index", done, len(manifest.books))
            await index.finish_rebuild(rebuilt)
        finally:
            await rebuilt.close()
    finally:
        await index.close()


@asynccontextmanager
async def _opened(source: Path, scratch: Path) -> AsyncGenerator[Index]:
    """The backup's index, from a copy: opening a store writes to it."""
    from quire.index.edge import EdgeIndex
    from quire.index.snapshot import COLLECTION

    shutil.rmtree(scratch, ignore_errors=True)
    await asyncio.to_thread(shutil.copytree, source, scratch)
    try:
        index = await EdgeIndex.open(scratch, collection=COLLECTION)
        try:
            yield index
        finally:
            await index.close()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


async def _settle(settings: Settings, manifest: Manifest) -> list[str]:
    """Clear the mark of every book that agrees with its records; the others keep it."""
    async with AsyncExitStack() as resources:
        database = await open_database(settings, resources)
        index = await open_index(settings)
        resources.push_async_callback(index.close)
        unsettled: list[str] = []
        for book in manifest.books:
            chunks = await chunks_of(index, book.id)
            if not book.settled or len(chunks) != book.chunks or check_chunks(chunks):
                unsettled.append(book.id)
                continue
            await _clear(database, book.id)
    return unsettled


async def _clear(database: Database, book_id: str) -> None:
    async with database.transaction() as session:
        await session.execute(
            update(BookRow)
            .where(BookRow.id == book_id, BookRow.writer == RESTORING)
            .values(writer=None)
        )
