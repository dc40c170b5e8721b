"""Model server, Qdrant and PostgreSQL behind a fault proxy: every question ends, in time."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI

from quire.api.app import create_app
from quire.settings import Settings
from quire.testing.answering import WordEmbedder, draft_json
from quire.testing.index import MemoryIndex
from quire.testing.llm import Request, StubReply, calls_tool, has_passages, last_question, serve
from quire.wiring import opening
from tests.faults.proxy import FAULTS, FaultProxy, faulty
from tests.faults.scale import LONG, SEED, note, scale
from tests.integration.service.processes import clean_environment, free_port, process, wait_for
from tests.postgres import fresh_database
from tests.service import QUESTION, running, settings_in, write_book

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800 if LONG else 120),
    pytest.mark.xdist_group("load"),
]

DEADLINE_S = 30.0
DRAFT = draft_json(("The rover needs a battery of 24 volts.", [1]))


def obedient(request: Request) -> StubReply:
    return StubReply(text=DRAFT) if has_passages(request) else calls_tool(last_question(request))


async def ask_until(app: FastAPI, proxy: FaultProxy, faults: int) -> Counter[str]:
    """Ask, eight at a time, until so many faults were met; how the questions ended."""
    ends: Counter[str] = Counter()
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    stop = time.monotonic() + (1500 if faults > 100 else 100)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:

        async def reader(number: int) -> None:
            while proxy.injected < faults and time.monotonic() < stop:
                path = "/chat/stream" if number % 2 else "/chat"
                began = time.monotonic()
                async with asyncio.timeout(DEADLINE_S):
                    response = await client.post(path, json={"query": QUESTION})
                ends[end_of(response)] += 1
                ends["slowest_ms"] = max(ends["slowest_ms"], int((time.monotonic() - began) * 1000))

        async def cut() -> None:
            while proxy.injected < faults and time.monotonic() < stop:
                await asyncio.sleep(1)
                await proxy.stop()  # else a connection without a fault would live for ever

        await asyncio.gather(cut(), *(reader(n) for n in range(8)))
    return ends


def end_of(response: httpx.Response) -> str:
    """An answer, a refusal or a typed error; anything else fails the test."""
    if response.headers["content-type"].startswith("text/event-stream"):
        last: dict[str, Any] = json.loads(response.text.rsplit("data: ", 1)[1].partition("\n")[0])
        if last["type"] == "done":
            return "answered"
        assert last["type"] == "error", last
        body = last
    else:
        body = response.json()
        if response.status_code == 200:
            assert not body["should_answer"] or "24 volts" in body["answer"], body
            return "answered" if body["should_answer"] else "refused"
        assert body["trace_id"]
    assert body["error_code"] != "internal_error", body
    return str(body["error_code"])


@asynccontextmanager
async def application(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, book: Path, *, index: bool = False
) -> AsyncGenerator[FastAPI]:
    """The service in this process; the embedder is a fake, the index too unless asked for."""
    if not index:
        memory = MemoryIndex()

        async def open_index(_: Settings, *, serving: bool) -> MemoryIndex:
            return memory

        monkeypatch.setattr(opening, "open_index", open_index)
    monkeypatch.setattr(opening, "open_embedder", lambda _: WordEmbedder())
    app = create_app(settings)
    async with running(app):
        job = await app.state.library.ingest(book)
        assert job.status == "completed", job.error_message
        yield app


async def test_a_model_server_that_misbehaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve(obedient) as server, faulty("127.0.0.1", server.port, seed=SEED) as proxy:
        settings = settings_in(
            tmp_path,
            model="openai",
            openai_api_key="unused",
            openai_base_url=f"http://127.0.0.1:{proxy.listening}/v1",
            openai_api="chat",
            model_timeout=2.0,
        )
        async with application(settings, monkeypatch, write_book(tmp_path)) as app:
            proxy.rate = 0.4
            ends = await ask_until(app, proxy, scale(40, 700))
            proxy.rate = 0.0
            await recovers(app)
    note("model server", faults=dict(proxy.counts), ends=dict(ends))
    assert ends["answered"] > 0
    assert set(proxy.counts) >= set(FAULTS)


async def test_a_qdrant_server_that_misbehaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    module = (sys.executable, "-m", "tests.integration.service.qdrant", str(port))
    with process(*module, environment=clean_environment()) as qdrant:
        await asyncio.to_thread(wait_for, f"http://127.0.0.1:{port}/collections", qdrant)
        async with faulty("127.0.0.1", port, seed=SEED, rate=0.0) as proxy:
            settings = settings_in(tmp_path, qdrant_url=f"http://127.0.0.1:{proxy.listening}")
            async with application(settings, monkeypatch, write_book(tmp_path), index=True) as app:
                proxy.rate = 0.5
                await proxy.stop()
                ends = await ask_until(app, proxy, scale(20, 650))
                proxy.rate = 0.0
                await recovers(app)
    note("qdrant", faults=dict(proxy.counts), ends=dict(ends))
    assert ends["answered"] > 0


async def test_a_postgresql_that_misbehaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = fresh_database()
    parts = urlsplit(url)
    folder = parse_qs(parts.query).get("host", [""])[0]
    where = (f"{folder}/.s.PGSQL.5432", 0) if folder else (str(parts.hostname), parts.port or 5432)
    async with faulty(where[0], where[1], seed=SEED, rate=0.0) as proxy:
        name = f"postgresql://postgres@127.0.0.1:{proxy.listening}{parts.path}?sslmode=disable"
        settings = settings_in(tmp_path, database_url=name, key_pepper="p" * 40)
        async with application(settings, monkeypatch, write_book(tmp_path)) as app:
            # no garbage: in a binary protocol it is for TLS to find it
            proxy.faults = [fault for fault in FAULTS if fault != "garbage"]
            proxy.rate = 0.5
            await proxy.stop()
            ends = await ask_until(app, proxy, scale(20, 650))
            proxy.rate = 0.0
            await recovers(app)
    note("postgresql", faults=dict(proxy.counts), ends=dict(ends))
    assert ends["answered"] > 0


async def recovers(app: FastAPI) -> None:
    """Without faults a question is answered again within seconds, without a restart."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        async with asyncio.timeout(60):
            while True:
                response = await client.post("/chat", json={"query": QUESTION})
                if response.status_code == 200 and "24 volts" in response.json()["answer"]:
                    return
                await asyncio.sleep(0.2)
