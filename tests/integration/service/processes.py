"""Processes of the service, started as an operator starts them and always stopped."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

QUIRE = str(Path(sys.executable).parent / "quire")
REPOSITORY = Path(__file__).parents[3]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def clean_environment(**values: str) -> dict[str, str]:
    foreign = ("QUIRE_", "OPENAI_", "QDRANT_", "DATABASE_URL", "REDIS_URL")
    return {**{k: v for k, v in os.environ.items() if not k.startswith(foreign)}, **values}


@contextmanager
def process(*command: str, environment: Mapping[str, str]) -> Generator[subprocess.Popen[bytes]]:
    log = tempfile.TemporaryFile()  # noqa: SIM115 — a pipe that nobody reads stops the process
    running = subprocess.Popen(
        command,
        env=dict(environment),
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=log,
    )
    running.stderr = log
    try:
        yield running
    finally:
        running.terminate()
        try:
            running.wait(timeout=30)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
        if running.stderr:
            running.stderr.close()


@contextmanager
def served(environment: Mapping[str, str]) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """A server that answers, and its address."""
    port = free_port()
    with process(QUIRE, "serve", "--port", str(port), environment=environment) as running:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/livez", running)
        yield running, address


def wait_for(url: str, running: subprocess.Popen[bytes], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    with httpx.Client() as client:
        while time.monotonic() < deadline:
            try:
                if client.get(url).status_code < 500:
                    return
            except httpx.TransportError:
                if running.poll() is not None:
                    assert running.stderr is not None
                    running.stderr.seek(0)
                    raise AssertionError(running.stderr.read().decode()[-2000:]) from None
            time.sleep(0.1)
    raise AssertionError(f"{url} didn't answer within {seconds} s")
