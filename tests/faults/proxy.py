"""A TCP proxy that misbehaves on purpose, in front of any server.

    python -m tests.faults.proxy LISTEN_PORT HOST PORT [--rate .3] [--seed 1]

Each connection gets a fault, or none, from a seeded generator; it strikes after some good
pieces, so that connections which are kept meet it in the middle of their life:

    latency     every piece waits
    reset       the connection is reset after some bytes of the answer
    refuse      the connection is reset before anything is sent
    half-open   the request goes through, and the answer never comes
    drip        the answer comes in pieces of a few bytes, with pauses
    garbage     some bytes of the answer are overwritten
    cut         the answer ends early, cleanly
"""

from __future__ import annotations

import argparse
import asyncio
import random
import socket
import struct
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, get_args

Fault = Literal["latency", "reset", "refuse", "half-open", "drip", "garbage", "cut"]
FAULTS: tuple[Fault, ...] = get_args(Fault)

PIECE = 65536


@dataclass
class FaultProxy:
    """One listening port, one server behind it; `faults` and `rate` may change at any time."""

    host: str
    port: int
    """The server behind it; for a Unix socket, `host` is its path and `port` is 0."""
    seed: int = 0
    rate: float = 1.0
    faults: Sequence[Fault] = FAULTS
    latency: float = 0.2
    """Seconds, at most, that a piece waits."""
    calm: int = 4
    """Pieces of the answer, at most, that pass before the fault strikes."""
    listening: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])
    open_connections: int = 0

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def injected(self) -> int:
        """Connections that met a fault."""
        return sum(count for name, count in self.counts.items() if name != "none")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection from its first to its last byte."""
        faulty = self.faults and self._rng.random() < self.rate
        fault = self._rng.choice(list(self.faults)) if faulty else None
        self.counts[fault or "none"] += 1
        self.open_connections += 1
        upstream: asyncio.StreamWriter | None = None
        pumps: list[asyncio.Task[None]] = []
        try:
            if fault == "refuse":
                return _reset(writer)
            answers, upstream = await self._connect()
            wish = asyncio.create_task(self._forward(reader, upstream, None))
            answer = asyncio.create_task(self._forward(answers, writer, fault))
            pumps = [wish, answer]
            done, left = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            if wish in done and answer in left and fault != "half-open":
                await asyncio.wait({answer}, timeout=30)
        except OSError:
            _reset(writer)
        finally:
            self.open_connections -= 1
            if upstream is not None:
                upstream.close()
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self.port:
            return await asyncio.open_connection(self.host, self.port)
        return await asyncio.open_unix_connection(self.host)

    async def _forward(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, fault: Fault | None
    ) -> None:
        calm = self._rng.randint(0, self.calm)
        with suppress(OSError):
            while piece := await source.read(PIECE):
                if fault is None or calm > 0:
                    calm -= 1
                    target.write(piece)
                    await target.drain()
                    continue
                if fault == "half-open":
                    continue  # read and forget: the client waits
                if fault == "latency":
                    await asyncio.sleep(self._rng.random() * self.latency)
                if fault == "garbage":
                    piece = self._garbled(piece)
                if fault == "drip":
                    await self._drip(piece, target)
                    continue
                if fault in ("reset", "cut"):
                    target.write(piece[: self._rng.randrange(len(piece))])
                    await target.drain()
                    return _reset(target) if fault == "reset" else None
                target.write(piece)
                await target.drain()
            if fault == "half-open":
                await asyncio.Event().wait()
            if target.can_write_eof():
                target.write_eof()

    async def _drip(self, piece: bytes, target: asyncio.StreamWriter) -> None:
        size = max(1, len(piece) // 20)
        for start in range(0, len(piece), size):
            target.write(piece[start : start + size])
            await target.drain()
            await asyncio.sleep(self._rng.random() * self.latency / 10)

    def _garbled(self, piece: bytes) -> bytes:
        bad = bytearray(piece)
        for _ in range(max(1, len(bad) // 50)):
            bad[self._rng.randrange(len(bad))] = self._rng.randrange(256)
        return bytes(bad)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection in a task that `stop` can cancel."""
        task = asyncio.create_task(self.serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # not in `serve`: a task that is cancelled at once never runs
        task.add_done_callback(lambda _: writer.close())

    async def stop(self) -> None:
        """Cut every connection; new ones are still accepted."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST instead of FIN."""
    with suppress(OSError):
        raw = writer.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@asynccontextmanager
async def faulty(
    host: str, port: int, *, seed: int = 0, listen: int = 0, **options: object
) -> AsyncGenerator[FaultProxy]:
    """A running proxy on a loopback port."""
    proxy = FaultProxy(host, port, seed=seed, **options)  # pyright: ignore[reportArgumentType]
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", listen)
    proxy.listening = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        await proxy.stop()
        await server.wait_closed()


async def main() -> None:
    """Stand in front of a deployment until interrupted."""
    parser = argparse.ArgumentParser(description="A TCP proxy that misbehaves on purpose.")
    parser.add_argument("listen", type=int)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("--rate", type=float, default=0.3, help="share of connections with a fault")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS))
    given = parser.parse_args()
    async with faulty(
        given.host,
        given.port,
        seed=given.seed,
        listen=given.listen,
        rate=given.rate,
        faults=given.faults,
    ):
        await asyncio.Event().wait()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
