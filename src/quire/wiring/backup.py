"""Backup: one folder with the database, the index and a manifest, made while others work.

    DEST/
    ├── manifest.json      versions, books, settings without secrets, a checksum of every file
    ├── database/          one file of JSON lines for each table
    └── index/             an embedded store with every chunk and vector

The same for every store, so a backup of one kind restores into the other. The embedded index
stands still (no writes; reads go on) while it and the database are copied. A Qdrant server
is read book by book; a book that was ingested meanwhile is read again, and in the end counts
as unsettled, which makes its next ingest compare everything.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

from quire import __version__
from quire.database import Database
from quire.database.dump import Row, dump
from quire.database.schema import HEAD
from quire.errors import Conflict, InvalidRequest, StorageUnavailable
from quire.index.copy import copy_book
from quire.index.payload import SCHEMA_VERSION
from quire.index.port import Index
from quire.ingestion.state import IngestionState
from quire.models import utc_now
from quire.settings import Settings
from quire.wiring.adapters import open_index
from quire.wiring.inventory import books_of
from quire.wiring.manifest import FORMAT, NAME, Manifest, Progress, described, harmless
from quire.wiring.opening import open_database

ROUNDS = 3
"""How often a book on a server is read again because it was being ingested."""
UNDER_WAY = "backup"
"""The writer of a book that was ingested while the backup was made."""


async def back_up(
    settings: Settings, target: Path, *, force: bool = False, progress: Progress | None = None
) -> Manifest:
    """Write a backup to a folder that is new, empty, or (with `force`) another backup.

    It appears under its name only when it is whole.
    """
    target = await asyncio.to_thread(_checked, target, force=force)
    draft = target.with_name(f"{target.name}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        (draft / "database").mkdir(parents=True)
        draft.chmod(0o700)
        async with AsyncExitStack() as resources:
            database = await open_database(settings, resources)
            if settings.qdrant_url is None:
                rows = await _copy_embedded(settings, database, draft, progress)
            else:
                rows = await _copy_server(settings, database, draft, progress)
        manifest = await _finish(settings, draft, rows)
        await asyncio.to_thread(_put_in_place, draft, target)
    except OSError as error:
        raise StorageUnavailable(f"can't write the backup: {error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def _checked(target: Path, *, force: bool) -> Path:
    target = target.expanduser().absolute()
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return target
    if not (target / NAME).is_file():
        raise InvalidRequest(f"{target} exists and is no backup; name another folder")
    if not force:
        raise Conflict(f"{target} already holds a backup; --force replaces it")
    return target


async def _copy_embedded(
    settings: Settings, database: Database, draft: Path, progress: Progress | None
) -> dict[str, int]:
    from quire.index.gate import WriteGate
    from quire.index.snapshot import copy_out

    def copy() -> None:
        report = partial(progress, "index") if progress else None
        copy_out(settings.index_path, settings.qdrant_collection_name, draft / "index", report)

    settings.index_path.mkdir(parents=True, exist_ok=True)
    async with WriteGate(settings.index_path).standstill():
        rows = await dump(database, draft / "database")
        await asyncio.to_thread(copy)
    return rows


async def _copy_server(
    settings: Settings, database: Database, draft: Path, progress: Progress | None
) -> dict[str, int]:
    state = IngestionState(database)
    async with AsyncExitStack() as resources:
        source = await open_index(settings)
        resources.push_async_callback(source.close)
        copy = await _open_copy(draft / "index")
        resources.push_async_callback(copy.close)
        seen: dict[str, Any] = {}
        for _ in range(ROUNDS):
            versions = {book_id: await _version(state, book_id) for book_id in await source.books()}
            stale = [
                book_id for book_id, version in versions.items() if seen.get(book_id) != version
            ]
            if not stale:
                break
            for number, book_id in enumerate(stale, start=1):
                await copy_book(source, copy, book_id)
                if progress is not None:
                    progress("index", number, len(stale))
            seen |= {book_id: versions[book_id] for book_id in stale}
        gone = set(await copy.books()) - set(await source.books())
        for book_id in gone:
            await copy.delete_book(book_id)
        await copy.commit()

        def marked(table: str, row: Row) -> Row:
            if table == "books" and seen.get(row["id"]) != _version_of(row):
                return {**row, "writer": UNDER_WAY}
            return row

        return await dump(database, draft / "database", marked)


async def _version(state: IngestionState, book_id: str) -> tuple[Any, ...] | None:
    """What changes when a book is ingested."""
    book = await state.load(book_id)
    if book is None or not book.settled:
        return None
    return (_text(book.last_full_ingest), _text(book.last_incremental_update))


def _version_of(row: Row) -> tuple[Any, ...] | None:
    return None if row["writer"] else (row["last_full_ingest"], row["last_incremental_update"])


def _text(moment: Any) -> str | None:
    return moment.isoformat() if moment else None


async def _open_copy(folder: Path) -> Index:
    from quire.index.edge import EdgeIndex
    from quire.index.snapshot import COLLECTION

    return await EdgeIndex.open(folder, collection=COLLECTION)


async def _finish(settings: Settings, draft: Path, rows: dict[str, int]) -> Manifest:
    """Open the copy once, so that what was in its log is in place, and take stock."""
    copy = await _open_copy(draft / "index")
    try:
        embedder = await copy.embedder()
        books = await books_of(draft / "database", copy)
    finally:
        await copy.close()
    await asyncio.to_thread(_keep_private, draft)
    manifest = Manifest(
        format=FORMAT,
        quire=__version__,
        created_at=utc_now().isoformat(),
        revision=HEAD,
        index_schema=SCHEMA_VERSION,
        embedder=embedder.name if embedder else None,
        dimension=embedder.dimension if embedder else None,
        books=tuple(books),
        rows=rows,
        settings=harmless(settings),
        files=await asyncio.to_thread(described, draft),
    )
    manifest.write(draft)
    await asyncio.to_thread((draft / NAME).chmod, 0o600)
    return manifest


def _keep_private(folder: Path) -> None:
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def _put_in_place(draft: Path, target: Path) -> None:
    from quire.index.disk import sync_file, sync_folder

    for path in draft.rglob("*"):
        if path.is_file():
            sync_file(path)
    if target.exists():
        old = target.with_name(f"{target.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        os.replace(target, old)
        os.replace(draft, target)
        shutil.rmtree(old)
    else:
        os.replace(draft, target)
    sync_folder(target.parent)
