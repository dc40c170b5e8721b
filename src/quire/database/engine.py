"""The connection to the relational store, and the one place where its errors are translated."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from typing import Any, Literal

from sqlalchemy import Connection, event, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)

from quire.database.address import libpq_url, parse_url
from quire.errors import MissingExtra, StorageUnavailable

_BUSY_TIMEOUT_MS = 15_000
_PURGE_EVERY_S = 0.1
_PURGE_TRIES = 500  # readers are short: within the minute one attempt meets none
_ANSWER_S = 20.0
"""How long PostgreSQL may take for one statement."""
_PRAGMAS = (
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


class Database:
    """Short transactions on SQLite or PostgreSQL; nothing is opened before the first one."""

    def __init__(self, url: str) -> None:
        self.url = parse_url(url)
        self._text = url
        self._engine = _create_engine(self.url.render_as_string(hide_password=False))
        self._write = async_sessionmaker(self._engine, expire_on_commit=False)
        self._read = async_sessionmaker(
            self._engine.execution_options(read_only=True), expire_on_commit=False
        )
        self._writer = asyncio.Lock()
        self._purging: asyncio.Task[None] | None = None

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]:
        """Which of the two this is."""
        return "sqlite" if self._engine.dialect.name == "sqlite" else "postgresql"

    @property
    def libpq_url(self) -> str:
        """The PostgreSQL URL for libpq-based drivers."""
        return libpq_url(self._text)

    @asynccontextmanager
    async def transaction(self, *, read_only: bool = False) -> AsyncGenerator[AsyncSession]:
        """A session whose work is committed at the end of the block, or undone as a whole.

        Raises `StorageUnavailable` when the database doesn't answer. Only database work
        belongs inside. Writers on SQLite take turns; don't nest.
        """
        sessions = self._read if read_only else self._write
        turn = self._writer if self.dialect == "sqlite" and not read_only else _no_wait()
        async with turn:
            with _translated():
                async with sessions.begin() as session:
                    yield session

    def insert(self, table: type[Any]) -> sqlite.Insert | postgresql.Insert:
        """An INSERT that knows `on_conflict_do_nothing` and `on_conflict_do_update`."""
        return sqlite.insert(table) if self.dialect == "sqlite" else postgresql.insert(table)

    async def lock(self, session: AsyncSession, key: int) -> None:
        """Hold off other transactions that take the same lock, until this one ends.

        On SQLite every write transaction excludes all others already.
        """
        if self.dialect == "postgresql":
            await session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": key})

    async def ping(self) -> None:
        """Ask the database for a sign of life; `StorageUnavailable` if there is none."""
        async with self.transaction(read_only=True) as session:
            await session.execute(text("SELECT 1"))

    async def purge(self) -> None:
        """Clear what was deleted out of SQLite's log, too; at once, or as soon as readers let it.

        On PostgreSQL dead rows go when the server vacuums; there is nothing to do here.
        """
        if self.dialect != "sqlite" or await asyncio.to_thread(_empty_log, self._file):
            return
        if self._purging is None or self._purging.done():
            self._purging = asyncio.create_task(self._purge_later(), name="purge")

    async def _purge_later(self) -> None:
        for _ in range(_PURGE_TRIES):
            await asyncio.sleep(_PURGE_EVERY_S)
            if await asyncio.to_thread(_empty_log, self._file):
                return

    @property
    def _file(self) -> str:
        return str(self.url.database)

    async def close(self) -> None:
        """Close all connections."""
        if self._purging is not None:
            self._purging.cancel()
            await asyncio.gather(self._purging, return_exceptions=True)
        await self._engine.dispose()


def _create_engine(url: str) -> AsyncEngine:
    try:
        if url.startswith("sqlite"):
            engine = create_async_engine(url, pool_size=8, max_overflow=0)
            event.listen(engine.sync_engine, "connect", _prepare_sqlite)
            event.listen(engine.sync_engine, "begin", _begin_sqlite)
            return engine
        return create_async_engine(
            url,
            pool_size=10,
            max_overflow=10,
            pool_timeout=10,
            pool_pre_ping=True,
            # a half-open connection is found out by the first statement that gets no answer
            connect_args={"timeout": 10, "command_timeout": _ANSWER_S},
        )
    except ModuleNotFoundError as error:
        raise MissingExtra("PostgreSQL", "postgres") from error


def _empty_log(path: str) -> bool:
    """Move the log into the file and cut it; False when someone is in the way.

    It never waits: a checkpoint that waits for readers keeps all writers out meanwhile.
    """
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        try:
            busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            return False
        return busy == 0


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin_sqlite` alone
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer takes the write lock at once: a later upgrade could fail half-way.
    read_only = connection.get_execution_options().get("read_only", False)
    connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")


@asynccontextmanager
async def _no_wait() -> AsyncGenerator[None]:
    yield


@contextmanager
def _translated() -> Generator[None]:
    try:
        yield
    except (IntegrityError, ProgrammingError, DataError):
        raise  # a mistake in our statements, not a database that is away
    except DBAPIError as error:
        raise _unavailable(error.orig or error) from error
    except (PoolTimeout, TimeoutError, OSError, UnicodeDecodeError) as error:
        # the driver reads a damaged answer as text that is none
        raise _unavailable(error) from error


def _unavailable(error: BaseException) -> StorageUnavailable:
    lines = str(error).splitlines()
    reason = lines[0] if lines else type(error).__name__
    return StorageUnavailable(f"the database doesn't answer: {reason}")
