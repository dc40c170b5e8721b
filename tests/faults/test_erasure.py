"""What is erased is gone from every file; what is redacted never reaches one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from quire.api import logs
from quire.database import Database
from quire.database.dump import dump
from quire.settings import Settings, load_settings
from quire.testing.answering import WordEmbedder
from quire.wiring import Ask, Library, opening
from tests.postgres import database_url
from tests.service import write_book

CANARY = "zanzibarcanary"
QUESTION = f"How many volts does the battery of the rover need, {CANARY}?"
MAIL = "jane.canary@mail.example.org"


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "open_embedder", lambda _: WordEmbedder())


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """Everything that is logged, at the lowest level, as the service formats it."""
    path = tmp_path / "home" / "quire.log"
    path.parent.mkdir()
    handler = logging.FileHandler(path)
    handler.setFormatter(logs.JsonFormatter())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logs.quieten()
    yield path
    root.removeHandler(handler)
    root.setLevel(level)
    handler.close()


def files_with(folder: Path, word: str) -> list[str]:
    """Every file below the folder whose bytes hold the word."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and word.encode() in path.read_bytes()
    ]


async def rows_with(settings: Settings, folder: Path, word: str) -> list[str]:
    """Every table that holds the word."""
    await asyncio.to_thread(folder.mkdir)
    database = Database(settings.database_address)
    try:
        await dump(database, folder)
    finally:
        await database.close()
    return files_with(folder, word)


async def converse(library: Library, owner: str, turns: int, **values: Any) -> str:
    """A conversation with feedback and a title, all with the canary in it."""
    first = await library.ask(Ask(text=QUESTION, remember=True, owner=owner, **values))
    session = first.session_id
    assert session is not None
    for _ in range(turns - 1):
        await library.ask(Ask(text=QUESTION, session_id=session, owner=owner, **values))
    exchange = (await library.conversations.exchanges(owner, session))[0]
    await library.conversations.give_feedback(owner, exchange.id, 1, comment=f"thanks, {CANARY}")
    await library.conversations.rename(owner, session, f"About {CANARY}")
    return session


@pytest.mark.parametrize(
    ("kind", "whole_owner"), [("sqlite", True), ("sqlite", False), ("postgresql", True)]
)
async def test_an_erased_conversation_is_in_no_table_file_or_log(
    tmp_path: Path, log: Path, kind: str, whole_owner: bool
) -> None:
    url = database_url(kind, tmp_path / "home")
    settings = load_settings(home=tmp_path / "home", database_url=url, key_pepper="p" * 40)
    async with Library.open(settings) as library:
        await library.ingest(write_book(tmp_path))
        mine = [await converse(library, "me", 5) for _ in range(2)]
        other = await converse(library, "you", 1)
        assert "conversations.jsonl" in await rows_with(settings, tmp_path / "before", CANARY)
        if kind == "sqlite":
            assert files_with(tmp_path / "home", CANARY)
        if whole_owner:
            assert await library.conversations.erase_owner("me") == 2
        else:
            for session in mine:
                await library.conversations.delete("me", session)
        assert (await library.conversations.thread("you", other)).messages
        await library.conversations.delete("you", other)
        # a server that goes on running, and one that was stopped
        assert files_with(tmp_path / "home", CANARY) == []
    assert files_with(tmp_path / "home", CANARY) == []
    assert await rows_with(settings, tmp_path / "after", CANARY) == []
    assert await asyncio.to_thread(log.read_bytes)


async def test_readers_in_the_way_do_not_keep_what_is_erased(tmp_path: Path, log: Path) -> None:
    settings = load_settings(home=tmp_path / "home", key_pepper="p" * 40)
    async with Library.open(settings) as library:
        await library.ingest(write_book(tmp_path))
        stop = asyncio.Event()

        async def read() -> None:
            while not stop.is_set():
                async with library.database.transaction(read_only=True) as session:
                    await session.execute(text("SELECT COUNT(*) FROM conversations"))

        readers = [asyncio.create_task(read()) for _ in range(4)]
        session = await converse(library, "me", 3)
        await library.conversations.delete("me", session)
        async with asyncio.timeout(60):
            while files_with(tmp_path / "home", CANARY):  # noqa: ASYNC110 — files are polled
                await asyncio.sleep(0.2)
        stop.set()
        await asyncio.gather(*readers)


async def test_what_is_redacted_reaches_no_file(tmp_path: Path, log: Path) -> None:
    settings = load_settings(home=tmp_path / "home", key_pepper="p" * 40, redact="on")
    asked = f"How many volts does the battery of the rover need? Mail me at {MAIL}"
    selection = f"The rover belongs to {MAIL}. The rover needs a battery of 24 volts."
    async with Library.open(settings) as library:
        await library.ingest(write_book(tmp_path))
        answer = await library.ask(Ask(text=asked, remember=True))
        session = answer.session_id
        assert session is not None
        for _ in range(5):
            await library.ask(Ask(text=asked, session_id=session))
        await library.ask(
            Ask(
                text=f"Who owns the rover, {MAIL}?",
                session_id=session,
                mode="selected_text",
                selected_text=selection,
            )
        )
        exchange = (await library.conversations.exchanges("local", session))[0]
        assert exchange.query.endswith("Mail me at [email]")
        await library.conversations.give_feedback("local", exchange.id, -1, comment=MAIL)
        await library.conversations.rename("local", session, MAIL)
        assert files_with(tmp_path / "home", MAIL) == []
        assert files_with(tmp_path / "home", "[email]")
    assert await rows_with(settings, tmp_path / "rows", MAIL) == []
