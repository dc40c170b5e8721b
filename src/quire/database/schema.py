"""The schema's revision: migrations run at start, once, under a lock."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from quire.database.address import sqlite_path
from quire.database.engine import Database
from quire.errors import ConfigurationError, StorageUnavailable

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0003"
"""The newest revision in `migrations/versions`; a test keeps the two equal."""

_LOCK = 0x5155_4952  # "QUIR"
_LOCK_TIMEOUT_S = 60.0


async def upgrade(database: Database) -> bool:
    """Bring the schema to `HEAD`; True if something had to be done.

    Safe to call from many processes at once and at every start: a current schema costs one
    query, and Alembic is imported only when there is work.
    """
    if _may_exist(database) and await revision(database) == HEAD:
        return False
    async with _alone(database), database.transaction() as session:
        await database.lock(session, _LOCK)
        connection = await session.connection()
        if await connection.run_sync(_revision) == HEAD:
            return False
        await connection.run_sync(_migrate)
    return True


async def revision(database: Database) -> str | None:
    """The revision the database is at; None when it is empty."""
    async with database.transaction(read_only=True) as session:
        connection = await session.connection()
        return await connection.run_sync(_revision)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _migrate(connection: Connection) -> None:
    from alembic import command
    from alembic.util import CommandError

    config = alembic_config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise ConfigurationError(
            f"the database was written by a newer Quire ({error}); upgrade this one"
        ) from error


def alembic_config() -> Config:
    """Alembic pointed at the migrations inside the package; no ini file is needed."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _may_exist(database: Database) -> bool:
    return database.dialect != "sqlite" or sqlite_path(database.url).exists()


@asynccontextmanager
async def _alone(database: Database) -> AsyncGenerator[None]:
    """Keep other processes out while SQLite is created; PostgreSQL has its advisory lock."""
    if database.dialect != "sqlite":
        yield
        return
    from filelock import AsyncFileLock, Timeout

    path = sqlite_path(database.url)
    _make_folder(path.parent)
    try:
        async with AsyncFileLock(f"{path}.lock", timeout=_LOCK_TIMEOUT_S):
            yield
    except Timeout as error:
        raise StorageUnavailable(
            f"another process has been migrating {path} for over {_LOCK_TIMEOUT_S:.0f} s"
        ) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageUnavailable(f"can't create {folder}: {error.strerror}") from error
