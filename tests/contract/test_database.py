"""The relational store: the same promises on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import IntegrityError

from quire.database import Database, revision, upgrade
from quire.database.schema import HEAD, alembic_config
from quire.database.tables import Base, BookRow, PageRow
from quire.errors import ConfigurationError, StorageUnavailable
from tests.postgres import database_url

pytestmark = pytest.mark.parametrize("kind", ["sqlite", "postgresql"])


@pytest.fixture
async def database(kind: str, tmp_path: Path) -> AsyncIterator[Database]:
    store = Database(database_url(kind, tmp_path))
    await upgrade(store)
    yield store
    await store.close()


def book(name: str) -> BookRow:
    return BookRow(
        id=name,
        title=name,
        root="/",
        collection_name="quire",
        embedder="hash",
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


async def test_upgrading_twice_does_something_once(kind: str, tmp_path: Path):
    store = Database(database_url(kind, tmp_path / "new" / "folder"))
    assert await upgrade(store)
    assert await revision(store) == HEAD
    assert not await upgrade(store)
    await store.close()


async def test_many_processes_may_upgrade_at_once(kind: str, tmp_path: Path):
    url = database_url(kind, tmp_path)
    code = (
        "import asyncio, sys; from quire.database import *\n"
        "async def main():\n"
        "    store = Database(sys.argv[1]); print(await upgrade(store)); await store.close()\n"
        "asyncio.run(main())"
    )
    racers = [
        subprocess.Popen([sys.executable, "-c", code, url], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = sorted([racer.communicate(timeout=60)[0].strip() for racer in racers])
    assert said == ["False", "False", "True"]


async def test_a_current_schema_is_recognised_without_alembic(kind: str, tmp_path: Path):
    url = database_url(kind, tmp_path)
    store = Database(url)
    await upgrade(store)
    await store.close()
    code = (
        "import asyncio, sys; from quire.database import *\n"
        "async def main():\n"
        "    store = Database(sys.argv[1]); await upgrade(store); await store.close()\n"
        "asyncio.run(main()); print('alembic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, url], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


async def test_the_migrations_make_exactly_the_tables_of_the_code(database: Database):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    def differences(connection):  # type: ignore[no-untyped-def]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SQLite can't reflect indexes on expressions
            return compare_metadata(MigrationContext.configure(connection), Base.metadata)

    async with database.transaction() as session:
        found = await (await session.connection()).run_sync(differences)
    if database.dialect == "sqlite":  # there, only their names can be compared
        named = {index.name for table in Base.metadata.tables.values() for index in table.indexes}
        found = [change for change in found if getattr(change[1], "name", None) not in named]
    assert found == []


def test_the_head_in_the_code_is_the_newest_migration(kind: str):
    from alembic.script import ScriptDirectory

    assert ScriptDirectory.from_config(alembic_config()).get_current_head() == HEAD


async def test_a_database_of_a_newer_version_is_refused(database: Database):
    async with database.transaction() as session:
        await session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigurationError, match="newer"):
        await upgrade(database)


async def test_the_migration_can_be_taken_back(database: Database):
    from alembic import command

    def down(connection):  # type: ignore[no-untyped-def]
        config = alembic_config()
        config.attributes["connection"] = connection
        command.downgrade(config, "base")

    async with database.transaction() as session:
        await (await session.connection()).run_sync(down)
    assert await revision(database) is None
    assert await upgrade(database)


async def test_a_transaction_is_kept_or_undone_as_a_whole(database: Database):
    async with database.transaction() as session:
        session.add(book("kept"))
    with pytest.raises(ZeroDivisionError):
        async with database.transaction() as session:
            session.add(book("lost"))
            await session.flush()
            _ = 1 / 0
    async with database.transaction(read_only=True) as session:
        assert list(await session.scalars(select(BookRow.id))) == ["kept"]


async def test_moments_and_json_come_back_as_they_went_in(database: Database):
    now = datetime(2026, 3, 4, 5, 6, 7, 891011, tzinfo=UTC)
    async with database.transaction() as session:
        session.add(book("b"))
        await session.flush()
        session.add(
            PageRow(
                book_id="b",
                source_file="ä/日本.md",
                file_hash="h",
                size=2**40,
                mtime_ns=2**60,
                chunk_ids=["1", "ü"],
                chunk_count=2,
                module="m",
                chapter=1,
                lesson=2,
                identity="path",
                settings_hash="s",
                embedder="e",
                ingested_at=now,
            )
        )
    async with database.transaction(read_only=True) as session:
        row = await session.scalar(select(PageRow))
    assert row is not None
    assert (row.ingested_at, row.chunk_ids, row.size) == (now, ["1", "ü"], 2**40)
    assert row.ingested_at.tzinfo is not None


async def test_foreign_keys_are_enforced_and_a_broken_rule_is_no_outage(database: Database):
    with pytest.raises(IntegrityError):
        async with database.transaction() as session:
            session.add(book("twice"))
            await session.flush()
            await session.execute(
                text("INSERT INTO feedback VALUES (:id, 1, NULL, '2026-01-01')"),
                {"id": "6ba7b810-9dad-41d1-80b4-00c04fd430c8"},
            )


async def test_concurrent_writers_all_get_their_turn(database: Database):
    async def count(number: int) -> None:
        async with database.transaction() as session:
            session.add(book(f"{number}"))
            await session.flush()
            await asyncio.sleep(0.001)

    await asyncio.gather(*(count(number) for number in range(40)))
    async with database.transaction(read_only=True) as session:
        assert len(list(await session.scalars(select(BookRow.id)))) == 40


async def test_readers_do_not_wait_for_a_writer(database: Database):
    async with database.transaction() as session:
        session.add(book("b"))
        await session.flush()
        async with asyncio.timeout(5), database.transaction(read_only=True) as reader:
            assert list(await reader.scalars(select(BookRow.id))) == []


async def test_ping_answers(database: Database):
    await database.ping()


async def test_a_database_that_is_away_is_unavailable(kind: str, tmp_path: Path):
    url = "sqlite:////proc/no/quire.db"
    if kind == "postgresql":
        url = "postgresql://quire:secret@127.0.0.1:9/quire"
    store = Database(url)
    with pytest.raises(StorageUnavailable) as failure:
        await store.ping()
    assert "secret" not in str(failure.value)
    with pytest.raises(StorageUnavailable):
        await upgrade(store)
    await store.close()
    await asyncio.sleep(0.05)  # aiosqlite's thread reports its failure to this loop


async def test_a_lost_connection_is_an_outage_and_the_next_transaction_works(database: Database):
    if database.dialect == "sqlite":
        return  # has no connection to lose
    with pytest.raises(StorageUnavailable):
        async with database.transaction() as session:
            await session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    await database.ping()


async def test_a_full_disk_is_an_outage(database: Database):
    if database.dialect == "postgresql":
        return  # the server's disk can't be filled from here
    async with database.transaction() as session:
        pages = await session.scalar(text("PRAGMA page_count"))
        await session.execute(text(f"PRAGMA max_page_count = {pages}"))
    with pytest.raises(StorageUnavailable, match="full"):
        async with database.transaction() as session:
            session.add(book("first"))
            session.add(book("x" * 100_000))
            await session.flush()
