"""Readers of streams: many at once, well-behaved or not, without a client library between."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.integration.service.processes import clean_environment, free_port, process, wait_for


@dataclass
class Served:
    """A running test server."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def state(self) -> dict[str, float]:
        """What it holds now."""
        async with httpx.AsyncClient(base_url=self.address, timeout=30) as client:
            return (await client.get("/faults/state")).raise_for_status().json()


@contextmanager
def service(home: Path, *books: Path, **environment: str) -> Generator[Served]:
    """The service over fakes, in a process of its own."""
    port = free_port()
    command = (sys.executable, "-m", "tests.faults.server", str(port), *map(str, books))
    values = clean_environment(QUIRE_HOME=str(home), **environment)
    with process(*command, environment=values) as running:
        wait_for(f"http://127.0.0.1:{port}/livez", running)
        yield Served(running, port)


@dataclass
class Reply:
    """A response as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The data of the stream's events."""
        lines = self.body.decode().split("\n")
        return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def request_bytes(path: str, body: Any, headers: Mapping[str, str] | None = None) -> bytes:
    """A POST as bytes; the connection ends with the response."""
    data = json.dumps(body).encode()
    lines = {
        "Host": "127.0.0.1",
        "Content-Type": "application/json",
        "Content-Length": str(len(data)),
        "Connection": "close",
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + data


async def post(
    port: int, path: str, body: Any, *, headers: Mapping[str, str] | None = None
) -> Reply:
    """Send and read to the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        writer.write(request_bytes(path, body, headers))
        return await read_reply(reader)
    finally:
        writer.close()


async def read_reply(reader: asyncio.StreamReader) -> Reply:
    """Status, headers and the whole body, chunked or not."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in pairs}
    status = int(head[0].split()[1])
    if headers.get("transfer-encoding") != "chunked":
        return Reply(status, headers, await reader.readexactly(int(headers["content-length"])))
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    return Reply(status, headers, body)
