"""A server process over a data folder, as an operator starts it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from quire.errors import DependencyError
from quire.evaluation.benchmarks.results import Stopwatch
from quire.settings import Settings

if TYPE_CHECKING:
    import httpx

_START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server that is ready, and how long that took."""

    client: httpx.AsyncClient
    port: int
    pid: int
    started_in: float
    """Seconds from the start of the process."""


@asynccontextmanager
async def serving(
    settings: Settings, home: Path, **settings_of_it: str
) -> AsyncGenerator[ServerProcess]:
    """Run `quire serve` until the block ends."""
    import httpx

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {
        **os.environ,
        "QUIRE_HOME": str(home),
        "QUIRE_MODELS": str(settings.models_path),
        **settings_of_it,
    }
    command = "import sys; sys.argv[0] = 'quire'; from quire.cli import main; main()"
    with tempfile.TemporaryFile() as log:
        with Stopwatch() as watch:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", command, "serve", "--port", str(port)),
                env=environment,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=log,
            )
        spawned = watch.seconds
        try:
            address = f"http://127.0.0.1:{port}"
            async with httpx.AsyncClient(base_url=address, timeout=120) as client:
                with Stopwatch() as watch:
                    ready = await _ready(client, process)
                if not ready:
                    log.seek(0)
                    said = log.read().decode(errors="replace").strip().splitlines()[-1:]
                    raise DependencyError(f"the server did not start: {''.join(said)}")
                yield ServerProcess(client, port, process.pid, spawned + watch.seconds)
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
