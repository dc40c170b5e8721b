"""The service in this process: fakes for index and embedder, everything else as it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from quire.api.app import create_app
from quire.settings import Settings, load_settings
from quire.testing.answering import WordEmbedder
from quire.testing.index import MemoryIndex
from quire.wiring import Library, opening

PAGE = """# Rover

## Battery

The rover needs a battery of 24 volts. The battery lasts for six hours.

## Camera

The camera of the rover takes thirty pictures in a second.
"""
QUESTION = "How many volts does the battery of the rover need?"


@dataclass
class Service:
    app: FastAPI
    client: httpx.AsyncClient
    library: Library

    async def key(self, **values: Any) -> str:
        """The text of a new key."""
        return (await self.library.keys.create("test", **values)).text


def write_book(folder: Path, name: str = "rover") -> Path:
    root = folder / name
    root.mkdir(parents=True)
    (root / "quire.toml").write_text(
        f'id = "{name}"\ntitle = "The {name} book"\nbase_url = "https://{name}.example"\n'
    )
    (root / "guide.md").write_text(PAGE.replace("rover", name).replace("Rover", name.title()))
    return root


def settings_in(folder: Path, **values: Any) -> Settings:
    return load_settings(home=folder / "home", **values)


@asynccontextmanager
async def running(app: FastAPI) -> AsyncGenerator[None]:
    """The application's life in a task of its own, as a server gives it one."""
    started, stop = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        try:
            async with app.router.lifespan_context(app):
                started.set()
                await stop.wait()
        finally:
            started.set()

    life = asyncio.create_task(live())
    await started.wait()
    if life.done():
        await life
    try:
        yield
    finally:
        stop.set()
        await life


@asynccontextmanager
async def open_service(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, *books: Path
) -> AsyncGenerator[Service]:
    """The application over these books, with a client that speaks to it without a socket."""
    index = MemoryIndex()

    async def open_index(_: Settings, *, serving: bool) -> MemoryIndex:
        return index

    monkeypatch.setattr(opening, "open_index", open_index)
    monkeypatch.setattr(opening, "open_embedder", lambda _: WordEmbedder())
    app = create_app(settings)
    async with running(app):
        library = app.state.library
        for book in books:
            job = await library.ingest(book)
            assert job.status == "completed", job.error_message
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", timeout=30
        ) as client:
            yield Service(app, client, library)
