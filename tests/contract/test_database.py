"""The relational store: the same promises on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
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
from quire.database.tables import Base, BookRow, FeedbackRow, PageRow
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


_UPGRADE = """
import asyncio, sys
from quire.database import Database, upgrade

async def main():
    store = Database(sys.argv[1])
    print(await upgrade(store), "alembic" in sys.modules)
    await store.close()

asyncio.run(main())
"""


async def upgrade_elsewhere(url: str) -> str:
    """Upgrade in another process; what `upgrade` said, and whether Alembic was imported."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _UPGRADE, url, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    return said.decode().strip()


async def test_many_processes_may_upgrade_at_once(kind: str, tmp_path: Path):
    url = database_url(kind, tmp_path)
    said = await asyncio.gather(*(upgrade_elsewhere(url) for _ in range(3)))
    assert sorted(answer.split()[0] for answer in said) == ["False", "False", "True"]


async def test_a_current_schema_is_recognised_without_alembic(kind: str, tmp_path: Path):
    url = database_url(kind, tmp_path)
    store = Database(url)
    await upgrade(store)
    await store.close()
    assert await upgrade_elsewhere(url) == "False False"


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

    async def fail() -> None:
        async with database.transaction() as session:
            session.add(book("lost"))
            await session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
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


async def add(database: Database, *rows: Base) -> None:
    async with database.transaction() as session:
        session.add_all(rows)


async def test_a_broken_rule_is_our_mistake_and_no_outage(database: Database):
    await add(database, book("b"))
    with pytest.raises(IntegrityError):
        await add(database, book("b"))


async def test_foreign_keys_are_enforced(database: Database):
    homeless = FeedbackRow(
        exchange_id="6ba7b810-9dad-41d1-80b4-00c04fd430c8",
        rating=1,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    with pytest.raises(IntegrityError):
        await add(database, homeless)


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

    async def break_off() -> None:
        async with database.transaction() as session:
            await session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    with pytest.raises(StorageUnavailable):
        await break_off()
    await database.ping()


async def test_a_full_disk_is_an_outage(database: Database):
    if database.dialect == "postgresql":
        return  # the server's disk can't be filled from here
    async with database.transaction() as session:
        pages = await session.scalar(text("PRAGMA page_count"))
        await session.execute(text(f"PRAGMA max_page_count = {pages}"))
    with pytest.raises(StorageUnavailable, match="full"):
        await add(database, book("first"), book("x" * 100_000))
