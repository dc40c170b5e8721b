"""Where pages are split: small ones in a thread, large ones in a process of their own.

Splitting is Python and regular expressions, and a long match holds the interpreter: in the process
that also serves, nobody would be answered meanwhile. A page that takes too long is given up, and
its process ended; a thread could not be.

A request is one message; before the chunks come, slice by slice, the other process may ask how many
tokens a text has, since the model is loaded here alone.
"""

from __future__ import annotations

import asyncio
import pickle
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from quire.books import Book
from quire.errors import PageRejected
from quire.ingestion.identity import LessonKeys
from quire.ingestion.splitting import PageChunks, split_file
from quire.models import Chunk
from quire.processes import LENGTH, STARTED, Line, command, line_home, packed

LARGE_PAGE = 32_768
"""Bytes from which a page has the process; below, a thread holds nobody up for long."""
PAGE_SECONDS = 30.0
"""What the page with the worst contrivance of a megabyte takes is 2 s."""
_SLICE = 128
"""Chunks of one message: reading one holds the interpreter too, for about a millisecond."""


@dataclass(frozen=True, slots=True)
class _Request:
    book: Book
    source_file: str
    data: bytes
    max_tokens: int
    identity: LessonKeys


@dataclass(frozen=True, slots=True)
class _Count:
    text: str


@dataclass(frozen=True, slots=True)
class _Part:
    chunks: tuple[Chunk, ...]
    embedded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Rejected:
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class _Done:
    skipped: bool


class Splitters:
    """Splits pages; the process is begun with the first large page and ended with the run."""

    def __init__(self, *, seconds: float = PAGE_SECONDS) -> None:
        """`seconds` is what one page may take."""
        self._seconds = seconds
        self._child: _Child | None = None

    async def __aenter__(self) -> Self:
        """Nothing is started yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End the process, whatever it is at."""
        await self._end()

    async def split(
        self,
        book: Book,
        source_file: str,
        data: bytes,
        *,
        max_tokens: int,
        count_tokens: Callable[[str], int],
        identity: LessonKeys,
    ) -> PageChunks | None:
        """As `split_file`; a large page that takes too long is rejected too."""
        if len(data) < LARGE_PAGE:
            return await asyncio.to_thread(
                split_file,
                book,
                source_file,
                data,
                max_tokens=max_tokens,
                count_tokens=count_tokens,
                identity=identity,
            )
        request = _Request(book, source_file, data, max_tokens, identity.only(source_file))
        try:
            return await self._ask(request, count_tokens)
        except PageRejected:
            raise  # the process waits for the next page
        except TimeoutError:
            reason = f"splitting it took longer than {self._seconds:.0f} s; divide it"
        except (EOFError, OSError):
            reason = "the process that split it ended; divide it, or look for room in memory"
        except BaseException:
            await self._end()
            raise
        await self._end()
        raise PageRejected(reason, source_file=source_file)

    async def _ask(
        self, request: _Request, count_tokens: Callable[[str], int]
    ) -> PageChunks | None:
        child = await self._begun()
        await child.send(request)
        chunks: list[Chunk] = []
        embedded: list[str] = []
        left = self._seconds
        while True:
            began = time.monotonic()
            async with asyncio.timeout(left):
                reply = await child.receive()
            left -= time.monotonic() - began  # counting may wait until the model is loaded
            match reply:
                case _Count(text):
                    await child.send(await asyncio.to_thread(count_tokens, text))
                case _Part() as part:
                    chunks += part.chunks
                    embedded += part.embedded
                case _Rejected(message, line):
                    raise PageRejected(message, source_file=request.source_file, line=line)
                case ended:
                    return None if ended.skipped else PageChunks(tuple(chunks), tuple(embedded))

    async def _begun(self) -> _Child:
        if self._child is None:
            self._child = await _Child.start()
        return self._child

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end()


@dataclass(frozen=True, slots=True)
class _Child:
    """The other process, and the line to it."""

    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def start(cls) -> Self:
        here, there = socket.socketpair()
        with there:
            start = command(__name__, there.fileno())
            try:
                process = await asyncio.create_subprocess_exec(
                    *start, pass_fds=(there.fileno(),), **STARTED
                )
            except OSError:
                here.close()
                raise
        reader, writer = await asyncio.open_connection(sock=here, limit=1 << 20)
        return cls(process, reader, writer)

    async def send(self, message: object) -> None:
        self.writer.write(packed(message))
        await self.writer.drain()

    async def receive(self) -> Any:
        (length,) = LENGTH.unpack(await self.reader.readexactly(LENGTH.size))
        return pickle.loads(await self.reader.readexactly(length))

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()
        await self.process.wait()


def serve(line: Line) -> None:
    """What the other process does until its requests end, as they do when this one dies."""

    def count(text: str) -> int:
        line.send(_Count(text))
        return line.receive()

    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            request: _Request = line.receive()
            try:
                split = split_file(
                    request.book,
                    request.source_file,
                    request.data,
                    max_tokens=request.max_tokens,
                    count_tokens=count,
                    identity=request.identity,
                )
            except PageRejected as error:
                line.send(_Rejected(str(error), error.line))
                continue
            if split is not None:
                for at in range(0, len(split.chunks), _SLICE):
                    end = at + _SLICE
                    line.send(_Part(split.chunks[at:end], split.embedded[at:end]))
            line.send(_Done(split is None))


def main() -> None:
    """The other process."""
    serve(line_home())
