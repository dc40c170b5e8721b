"""The service over fakes in a process of its own: what is measured is Quire, not a model.

    python -m tests.faults.server PORT BOOK…

Settings come from the environment, as always; `FAULTS_REAL_INDEX=1` takes the real index.
`GET /faults/state` tells what is held: tasks and slots, with the processes it started descriptors
and memory (all of it, and without mapped files), and since the last look the longest stall of the
event loop: by the clock (`stall_ms`), and of it what the loop itself was busy (`busy_ms`).
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from quire.api import app as api
from quire.api.app import create_app
from quire.cli.serve import listen
from quire.settings import Settings, load_settings
from quire.testing.answering import WordEmbedder
from quire.testing.index import MemoryIndex
from quire.wiring import opening

LOOK_EVERY_S = 0.005


def family() -> Iterator[tuple[int, int, int]]:
    """Of this process and its children: descriptors, memory, memory without mapped files (kB)."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            status = (folder / "status").read_text()
            values = dict(re.findall(r"^(Pid|PPid|VmRSS|RssAnon):\s+(\d+)", status, re.MULTILINE))
            if str(os.getpid()) in (values["Pid"], values["PPid"]) and "VmRSS" in values:
                descriptors = len(list((folder / "fd").iterdir()))
                yield descriptors, int(values["VmRSS"]), int(values["RssAnon"])


def held(app: FastAPI) -> dict[str, Any]:
    """What this process holds now."""
    descriptors, resident, anonymous = map(sum, zip(*family(), strict=True))
    return {
        "tasks": len(asyncio.all_tasks()),
        "slots": app.state.slots.taken,
        "descriptors": descriptors,
        "rss_mb": resident / 1e3,
        "anonymous_mb": anonymous / 1e3,
        "stall_ms": app.state.stall * 1000,
        "busy_ms": app.state.busy * 1000,
    }


async def watch(app: FastAPI) -> None:
    """Note by how much the loop was late, and how long it was at work without a pause."""
    while True:
        began, worked = time.perf_counter(), time.thread_time()
        await asyncio.sleep(LOOK_EVERY_S)
        app.state.busy = max(app.state.busy, time.thread_time() - worked)
        app.state.stall = max(app.state.stall, time.perf_counter() - began - LOOK_EVERY_S)


def main(port: int, *books: str) -> None:
    """Serve these books until told to stop."""
    opening.open_embedder = lambda _: WordEmbedder()
    if not os.environ.get("FAULTS_REAL_INDEX"):
        index = MemoryIndex()

        async def open_index(_: Settings, *, serving: bool) -> MemoryIndex:
            return index

        opening.open_index = open_index
    api.create_app = lambda settings: observed(create_app(settings), *map(Path, books))
    listen(load_settings(), "127.0.0.1", port)


def observed(app: FastAPI, *books: Path) -> FastAPI:
    """The application with its books ingested at the start, and a route to look inside."""
    app.state.stall = app.state.busy = 0.0
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with inner(app):
            for book in books:
                await app.state.library.ingest(book)
            watching = asyncio.create_task(watch(app))
            yield
            watching.cancel()

    app.router.lifespan_context = lifespan

    @app.get("/faults/state")
    async def state() -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        found = held(app)
        app.state.stall = app.state.busy = 0.0
        return found

    return app


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
