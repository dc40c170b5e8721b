"""Serving: a real server process under readers who ask at once."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from quire.errors import DependencyError
from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.benchmarks.search import derived_queries
from quire.evaluation.scratch import Progress, indexed, scratch_folder
from quire.settings import Settings

if TYPE_CHECKING:
    import httpx

READERS = (1, 4, 16)
REQUESTS = 48
_START_SECONDS = 120


async def bench_serve(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Serve the corpus's scratch index by `quire serve`; time searches and chats over HTTP."""
    async with indexed(corpus, settings, progress) as book:
        queries = derived_queries(book)
    result = Benchmark("serve", f"{REQUESTS} requests each on {corpus.name}")
    home = scratch_folder(corpus, settings) / "home"
    async with _server(settings, home) as (client, start):
        result.add("until the server answers", start, "s")
        for path, field in (("/search", "text"), ("/chat", "query")):
            name = path.strip("/")
            for readers in READERS:
                times, seconds = await _load(client, path, field, queries, readers)
                result.add_latencies(
                    f"{name}, {readers} at once",
                    times,
                    against=None if readers == 1 else f"{name}, 1 at once",
                )
                result.add(
                    f"{name} requests a second, {readers} at once",
                    len(times) / seconds,
                    "1/s",
                    against=None if readers == 1 else f"{name} requests a second, 1 at once",
                )
                if progress:
                    progress(f"serving {name}", READERS.index(readers) + 1, len(READERS))
    return result


async def _load(
    client: httpx.AsyncClient,
    path: str,
    field: str,
    queries: Sequence[str],
    readers: int,
) -> tuple[list[float], float]:
    queue = [queries[n % len(queries)] for n in range(REQUESTS)]
    times: list[float] = []

    async def reader() -> None:
        while queue:
            body = {field: queue.pop()}
            with Stopwatch() as watch:
                response = await client.post(path, json=body)
            if response.status_code != 200:
                raise DependencyError(f"{path} answered {response.status_code}: {response.text}")
            times.append(watch.seconds)

    with Stopwatch() as whole:
        await asyncio.gather(*(reader() for _ in range(readers)))
    return times, whole.seconds


@asynccontextmanager
async def _server(
    settings: Settings, home: Path
) -> AsyncGenerator[tuple[httpx.AsyncClient, float]]:
    """A server process over a data folder, and the seconds until it was ready."""
    import httpx

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "QUIRE_HOME": str(home),
        "QUIRE_MODELS": str(settings.models_path),
    }
    command = "import sys; sys.argv[0] = 'quire'; from quire.cli import main; main()"
    with tempfile.TemporaryFile() as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", command, "serve", "--port", str(port)),
            env=environment,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=log,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            async with httpx.AsyncClient(base_url=address, timeout=60) as client:
                with Stopwatch() as watch:
                    ready = await _ready(client, process)
                if not ready:
                    log.seek(0)
                    said = log.read().decode(errors="replace").strip().splitlines()[-1:]
                    raise DependencyError(f"the server did not start: {''.join(said)}")
                yield client, watch.seconds
        finally:
            if process.returncode is None:
                process.terminate()
                await process.wait()


async def _ready(client: httpx.AsyncClient, process: asyncio.subprocess.Process) -> bool:
    """Wait until the server can answer; False when it ended or took too long."""
    import httpx

    for _ in range(_START_SECONDS * 20):
        if process.returncode is not None:
            return False
        try:
            if (await client.get("/readyz")).status_code == 200:
                return True
        except httpx.TransportError:
            pass
        await asyncio.sleep(0.05)
    return False
