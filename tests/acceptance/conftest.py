"""The sample book, ingested once by the command line and served by a real process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

QUIRE = str(Path(sys.executable).parent / "quire")


class Terminal:
    """Runs `quire` as a person would, with a data folder of its own."""

    def __init__(self, home: Path, models: Path) -> None:
        self.home = home
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("QUIRE_", "OPENAI_"))},
            "QUIRE_HOME": str(home),
            "QUIRE_MODELS": str(models),
            "COLUMNS": "200",
        }

    def __call__(
        self, *arguments: str, code: int = 0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [QUIRE, *arguments],
            capture_output=True,
            text=True,
            timeout=300,
            env={**self.environment, **environment},
            cwd=self.home.parent,
        )
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    def json(self, *arguments: str, code: int = 0, **environment: str) -> Any:
        return json.loads(self(*arguments, "--json", code=code, **environment).stdout)


@pytest.fixture(scope="session")
def terminal(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Terminal:
    return Terminal(tmp_path_factory.mktemp("acceptance") / "home", model_cache)


@pytest.fixture(scope="session")
def ingested(terminal: Terminal, sample_book: Path) -> dict[str, Any]:
    """The finished job of the first ingest."""
    return terminal.json("ingest", str(sample_book))


@pytest.fixture(scope="session")
def server(terminal: Terminal, ingested: dict[str, Any]) -> Iterator[str]:
    """The address of a server over the sample book."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [QUIRE, "serve", "--port", str(port)],
        env=terminal.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client() as client:
            for _ in range(600):
                try:
                    if client.get(f"{address}/livez").status_code == 200:
                        break
                except httpx.TransportError:
                    assert process.poll() is None, "the server ended"
                    time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture(scope="session")
def api(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, timeout=60) as client:
        yield client
