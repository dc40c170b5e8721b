"""The connection to the relational store, and the one place where its errors are translated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Literal

from sqlalchemy import event, text
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import (
    AsyncEngine,
    AsyncSession,
    async_sessionmaker,
    create_async_engine,
)

from quire.database import sqlite
from quire.database.address import libpq_url, parse_url
from quire.errors import MissingExtra, StorageUnavailable

_PURGE_EVERY_S = 0.1
_PURGE_TRIES = 500  # readers are short: within the minute one attempt meets none
_ANSWER_S = 20.0
"""How long PostgreSQL may take for one statement."""


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
        belongs inside. Writers on SQLite take turns; don't nest. On SQLite a cancellation waits
        for the end.
        """
        sessions = self._read if read_only else self._write
        turn = self._writer if self.dialect == "sqlite" and not read_only else _no_wait()
        async with turn:
            with sqlite.deaf(), _translated():
                async with sessions.begin() as session:
                    yield session

    def insert(self, table: type[Any]) -> sqlite_dialect.Insert | postgresql.Insert:
        """An INSERT that knows `on_conflict_do_nothing` and `on_conflict_do_update`."""
        return (
            sqlite_dialect.insert(table) if self.dialect == "sqlite" else postgresql.insert(table)
        )

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
        if self.dialect != "sqlite" or await asyncio.to_thread(sqlite.empty_log, self._file):
            return
        if self._purging is None or self._purging.done():
            self._purging = asyncio.create_task(self._purge_later(), name="purge")

    async def _purge_later(self) -> None:
        for _ in range(_PURGE_TRIES):
            await asyncio.sleep(_PURGE_EVERY_S)
            if await asyncio.to_thread(sqlite.empty_log, self._file):
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
            engine = create_async_engine(
                url,
                pool_size=8,
                max_overflow=0,
                connect_args={"async_creator_fn": sqlite.connect},
            )
            event.listen(engine.sync_engine, "connect", sqlite.prepare)
            event.listen(engine.sync_engine, "begin", sqlite.begin)
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
