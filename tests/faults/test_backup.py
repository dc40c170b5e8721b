"""Backup and restore: consistent while serving, checked, and between every kind of store."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from quire.database import Database
from quire.database.dump import dump
from quire.errors import Conflict, InvalidRequest, StoreLocked
from quire.settings import Settings, load_settings
from quire.testing.answering import WordEmbedder
from quire.wiring import Ask, Library, opening
from quire.wiring.backup import back_up
from quire.wiring.diagnosis import verify
from quire.wiring.restoring import restore
from tests.faults.scale import scale
from tests.integration.service.processes import clean_environment, free_port, process, wait_for
from tests.postgres import fresh_database
from tests.service import QUESTION, write_book
from tests.workshop import write_pages

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("load")]

BACKUPS = scale(1, 5)


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "open_embedder", lambda _: WordEmbedder())


async def fill(settings: Settings, book: Path) -> str:
    """Ingest, ask one question and make a key; returns its text."""
    async with Library.open(settings) as library:
        assert (await library.ingest(book)).status == "completed"
        await library.ask(Ask(text=QUESTION, remember=True))
        return (await library.keys.create("test")).text


async def assert_whole(settings: Settings, key: str, exchanges: int = 1) -> None:
    """Every book verified, the question answered, the conversation there, the key known."""
    async with Library.open(settings) as library:
        for book in await library.books():
            assert await verify(library, book.id) == []
        answer = await library.ask(Ask(text=QUESTION, book_id="rover"))
        assert "24 volts" in answer.text
        threads = await library.conversations.threads("local")
        assert sum(thread.exchanges for thread in threads) == exchanges
        assert (await library.keys.authenticate(key)).name == "test"


@asynccontextmanager
async def shared_stores(tmp_path: Path, name: str) -> AsyncGenerator[Settings]:
    """A Qdrant stand-in and a fresh PostgreSQL database."""
    port = free_port()
    module = (sys.executable, "-m", "tests.integration.service.qdrant", str(port))
    with process(*module, environment=clean_environment()) as qdrant:
        await asyncio.to_thread(wait_for, f"http://127.0.0.1:{port}/collections", qdrant)
        yield load_settings(
            home=tmp_path / name,
            qdrant_url=f"http://127.0.0.1:{port}",
            database_url=fresh_database(),
            key_pepper="p" * 40,
        )


async def test_a_backup_made_while_an_ingest_and_chats_run_restores_whole(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", key_pepper="p" * 40)
    book = write_book(tmp_path)
    key = await fill(settings, book)
    write_pages(tmp_path / "big", 40)
    async with Library.open(settings) as library:
        stop = asyncio.Event()

        async def chat() -> None:
            while not stop.is_set():
                answer = await library.ask(Ask(text=QUESTION, book_id="rover", remember=True))
                assert "24 volts" in answer.text

        async def ingest() -> None:
            for number in range(1000):
                if stop.is_set():
                    return
                write_pages(tmp_path / "big", 40, seed=number)
                assert (await library.ingest(tmp_path / "big")).status == "completed"

        work = [asyncio.create_task(chat()), asyncio.create_task(ingest())]
        await asyncio.sleep(0.5)
        for number in range(BACKUPS):
            await back_up(settings, tmp_path / f"backup-{number}")
        stop.set()
        await asyncio.gather(*work)
    for number in range(BACKUPS):
        target = load_settings(home=tmp_path / f"restored-{number}", key_pepper="p" * 40)
        done = await restore(target, tmp_path / f"backup-{number}")
        async with Library.open(target) as library:
            if done.unsettled:
                assert done.unsettled == ("big",)
                assert (await library.ingest(tmp_path / "big")).status == "completed"
            exchanges = sum(t.exchanges for t in await library.conversations.threads("local"))
        assert exchanges >= 1
        await assert_whole(target, key, exchanges)


@pytest.mark.parametrize("direction", ["to server", "from server"])
async def test_a_backup_restores_into_the_other_kind_of_store(
    tmp_path: Path, direction: str
) -> None:
    embedded = load_settings(home=tmp_path / "home", key_pepper="p" * 40)
    async with shared_stores(tmp_path, "shared") as server:
        source, target = (embedded, server) if direction == "to server" else (server, embedded)
        key = await fill(source, write_book(tmp_path))
        manifest = await back_up(source, tmp_path / "backup")
        assert [(book.id, book.settled) for book in manifest.books] == [("rover", True)]
        assert (await restore(target, tmp_path / "backup")).unsettled == ()
        await assert_whole(target, key)
        async with Library.open(target) as library:  # numbers given out go on
            assert (await library.ingest(tmp_path / "rover")).job_id == 2


async def test_restoring_gives_the_same_rows(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", key_pepper="p" * 40)
    await fill(settings, write_book(tmp_path))
    await back_up(settings, tmp_path / "backup")
    target = load_settings(home=tmp_path / "restored")
    await restore(target, tmp_path / "backup")
    (tmp_path / "again").mkdir()
    database = Database(target.database_address)
    await dump(database, tmp_path / "again")
    await database.close()
    for file in (tmp_path / "backup" / "database").iterdir():
        assert file.read_text() == (tmp_path / "again" / file.name).read_text()


async def test_what_would_lose_data_is_refused(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", key_pepper="p" * 40)
    key = await fill(settings, write_book(tmp_path))
    backup = tmp_path / "backup"
    await back_up(settings, backup)
    with pytest.raises(Conflict, match="--force"):
        await back_up(settings, backup)
    await back_up(settings, backup, force=True)
    with pytest.raises(InvalidRequest, match="is no backup"):
        await back_up(settings, tmp_path / "rover", force=True)
    with pytest.raises(Conflict, match="--force"):
        await restore(settings, backup)
    async with Library.open(settings):
        with pytest.raises(StoreLocked):
            await restore(settings, backup, force=True)
    await restore(settings, backup, force=True)
    await assert_whole(settings, key)


async def test_a_damaged_backup_changes_nothing(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path / "home", key_pepper="p" * 40)
    key = await fill(settings, write_book(tmp_path))
    backup = tmp_path / "backup"
    manifest = await back_up(settings, backup)
    for name in ("database/books.jsonl", next(n for n in manifest.files if "segments" in n)):
        damaged = tmp_path / "damaged"
        shutil.copytree(backup, damaged)
        with (damaged / name).open("ab") as stream:
            stream.write(b"x")
        with pytest.raises(InvalidRequest, match=name):
            await restore(settings, damaged, force=True)
        (damaged / name).unlink()
        with pytest.raises(InvalidRequest, match="missing"):
            await restore(settings, damaged, force=True)
        shutil.rmtree(damaged)
    with pytest.raises(InvalidRequest, match=r"no manifest\.json"):
        await restore(settings, tmp_path / "rover", force=True)
    await assert_whole(settings, key)


async def test_no_secret_is_in_a_backup_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    settings = load_settings(
        home=tmp_path / "home",
        openai_api_key="sk-very-secret",
        redis_url="redis://user:redis-password@127.0.0.1/0",
        key_pepper="pepper-" * 8,
    )
    key = await fill(
        load_settings(home=tmp_path / "home", key_pepper="pepper-" * 8), write_book(tmp_path)
    )
    await back_up(settings, tmp_path / "backup")
    secrets = [b"sk-very-secret", b"redis-password", b"pepper-pepper", key.encode()]
    for path in (tmp_path / "backup").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0
        if path.is_file():
            data = path.read_bytes()
            assert not any(secret in data for secret in secrets), path
    settings_file = json.loads((tmp_path / "backup" / "manifest.json").read_text())["settings"]
    assert settings_file["QUIRE_EMBEDDER"] == "minilm"
    assert "OPENAI_API_KEY" not in settings_file


async def test_a_full_disk_leaves_no_half_backup(tmp_path: Path) -> None:
    from quire.errors import StorageUnavailable
    from tests.faults.disk import small_disk

    settings = load_settings(home=tmp_path / "home", key_pepper="p" * 40)
    key = await fill(settings, write_book(tmp_path))
    with small_disk(tmp_path / "disk", 1) as disk:
        with pytest.raises(StorageUnavailable):
            await back_up(settings, disk / "backup")
        assert list(disk.iterdir()) == []
    await assert_whole(settings, key)
