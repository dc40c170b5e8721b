"""What SQLite needs to be told, and a connection that no cancellation can break."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from typing import Any, Final

import aiosqlite
from sqlalchemy import Connection

from quire.concurrency import settled, uninterrupted

_BUSY_TIMEOUT_MS: Final = 15_000
_PRAGMAS: Final = (
    f"PRAGMA busy_timeout = {_BUSY_TIMEOUT_MS}",
    # Readers and one writer don't block each other.
    "PRAGMA journal_mode = WAL",
    # FULL, not NORMAL: in WAL mode NORMAL may forget a commit when the power fails, and we
    # tell callers that a page is ingested or a turn stored. One fsync per transaction is
    # cheap because ingestion records pages in groups.
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    # What is deleted is overwritten: an erased question must not be found in the file.
    "PRAGMA secure_delete = ON",
)


_HEARD: ContextVar[list[asyncio.CancelledError] | None] = ContextVar("heard", default=None)


@contextmanager
def deaf() -> Generator[None]:
    """In this block SQLite's calls don't hear cancellations; the last one is raised at the end.

    A transaction that is cut off in BEGIN leaves a connection behind that gets the write lock
    after all, with nobody there to give it back; so one that was begun is brought to its end.
    """
    heard: list[asyncio.CancelledError] = []
    token = _HEARD.set(heard)
    try:
        yield
    finally:
        _HEARD.reset(token)
        if heard:
            raise heard[-1]


class PatientConnection(aiosqlite.Connection):
    """Every call ends before a cancellation is heard of."""

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        driver: Any = super()  # it has no types here
        heard = _HEARD.get()
        if heard is None:
            return await uninterrupted(driver._execute(fn, *args, **kwargs))
        call = asyncio.ensure_future(driver._execute(fn, *args, **kwargs))
        if cancelled := await settled(call):
            heard.append(cancelled)
        return call.result()


def connect(database: str, **options: Any) -> PatientConnection:
    """A connection for the engine; its thread ends with the process."""
    connection = PatientConnection(lambda: sqlite3.connect(database, **options), 64)
    connection._thread.daemon = True  # pyright: ignore[reportPrivateUsage]
    return connection


def prepare(connection: Any, _record: Any) -> None:
    """Set a new connection up."""
    connection.isolation_level = None  # transactions are begun by `begin` alone
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def begin(connection: Connection) -> None:
    """A writer takes the write lock at once: a later upgrade could fail half-way."""
    read_only = connection.get_execution_options().get("read_only", False)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")


def empty_log(path: str) -> bool:
    """Move the log into the file and cut it; False when someone is in the way.

    It never waits: a checkpoint that waits for readers keeps all writers out meanwhile.
    """
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        try:
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            return False
        return busy == 0
