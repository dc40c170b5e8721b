"""SIGTERM while answers are on their way: each stream ends with an event that says so."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.faults.scale import note, scale
from tests.integration.service.processes import QUIRE, clean_environment, free_port, process
from tests.service import QUESTION, write_book

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

STREAMS = scale(20, 200)


@asynccontextmanager
async def silent_model() -> AsyncGenerator[str]:
    """A model server that takes every call and never answers."""
    held: list[asyncio.StreamWriter] = []

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.append(writer)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hold, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        for writer in held:
            writer.close()


async def test_sigterm_ends_every_stream_with_an_event(tmp_path: Path, model_cache: Path) -> None:
    book = write_book(tmp_path)
    store = tmp_path / "home" / "quire.db"
    async with silent_model() as model:
        environment = clean_environment(
            QUIRE_HOME=str(tmp_path / "home"),
            QUIRE_MODELS=str(model_cache),
            QUIRE_MODEL="openai",
            OPENAI_API_KEY="unused",
            OPENAI_BASE_URL=model,
            QUIRE_OPENAI_API="chat",
            QUIRE_MODEL_TIMEOUT="250",
        )
        with process(QUIRE, "ingest", str(book), environment=environment) as ingesting:
            assert await asyncio.to_thread(ingesting.wait, 120) == 0
        port = free_port()
        with process(QUIRE, "serve", "--port", str(port), environment=environment) as server:
            address = f"http://127.0.0.1:{port}"
            limits = httpx.Limits(max_connections=STREAMS + 1)
            async with httpx.AsyncClient(base_url=address, timeout=60, limits=limits) as client:
                await ready(client)
                tasks = [asyncio.create_task(last_event(client)) for _ in range(STREAMS)]
                for _ in range(240):
                    if await statuses(store) == [("in_progress", STREAMS)]:
                        break
                    await asyncio.sleep(0.5)
                server.send_signal(signal.SIGTERM)
                events = await asyncio.wait_for(asyncio.gather(*tasks), 30)
            assert await asyncio.to_thread(server.wait, 30) is not None
    codes = {(event["error_code"], event.get("retryable", True)) for event in events}
    assert codes == {("shutting_down", True)}
    note("shutdown", streams=STREAMS)
    assert await statuses(store) == [("aborted", STREAMS)]  # no cut answer is complete


async def ready(client: httpx.AsyncClient) -> None:
    for _ in range(900):
        try:
            if (await client.get("/livez")).status_code == 200:
                return
        except httpx.TransportError:
            await asyncio.sleep(0.1)
    raise AssertionError("the server didn't start")


async def last_event(client: httpx.AsyncClient) -> dict[str, object]:
    async with client.stream("POST", "/chat/stream", json={"query": QUESTION}) as response:
        text = (await response.aread()).decode()
    if response.status_code != 200:
        return json.loads(text)
    data = [line for line in text.split("\n") if line.startswith("data: ")]
    return json.loads(data[-1].removeprefix("data: "))


async def statuses(path: Path) -> list[tuple[str, int]]:
    """How many turns of each status are stored."""
    from sqlalchemy import text

    from quire.database import Database

    database = Database(f"sqlite:///{path}")
    async with database.transaction(read_only=True) as session:
        found = (
            await session.execute(
                text("SELECT status, COUNT(*) FROM conversations GROUP BY status")
            )
        ).all()
    await database.close()
    return [(status, count) for status, count in found]
