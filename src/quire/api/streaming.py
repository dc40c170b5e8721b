"""Streams that always end well: keepalive, deadline, shutdown and clients that leave."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from fastapi import Request
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Receive, Scope, Send

from quire.errors import QuireError, ShuttingDown

T = TypeVar("T")

KEEPALIVE_S = 15.0
PATIENCE_S = 5.0
"""How long the status line waits for the first piece: an error until then is a real one."""

_KEEPALIVE = format_sse_event(comment="keepalive")
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_AHEAD = 16  # pieces that may wait for a slow reader

UNEXPECTED = "something went wrong on our side; the trace id finds it in the log"

_log = logging.getLogger(__name__)


class ClientGone(Exception):
    """The client has left; there is nobody to answer."""


class AnswerStream(EventSourceResponse):
    """Sends the pieces of an answer as they come.

    An error before the first piece is raised, and so gets its own status; a later one is the
    last event. When the client leaves or doesn't read, the generator of the pieces is closed,
    which cancels the calls to the model. When the server stops, the stream ends with an error
    event that says so.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        *,
        failed: Callable[[QuireError], bytes],
        stopping: asyncio.Event,
        write_timeout: float,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__((), headers={**_HEADERS, **(headers or {})})
        self._pieces = pieces
        self._failed = failed
        self._stopping = stopping
        self._write_timeout = write_timeout
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Produce in one task, watch the client in another, send from this one."""
        queue: asyncio.Queue[bytes] = asyncio.Queue(_AHEAD)
        producing = asyncio.create_task(self._produce(queue))
        gone = asyncio.create_task(disconnected(receive))
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await self._relay(queue, producing, gone, stopping, send)
        except ClientGone:
            _log.info("a client left before its answer was complete")
        except TimeoutError:
            _log.info("a client didn't read for %g s and was cut", self._write_timeout)
        finally:
            for task in (producing, gone, stopping):
                task.cancel()
            await asyncio.gather(producing, gone, stopping, return_exceptions=True)

    async def _produce(self, queue: asyncio.Queue[bytes]) -> None:
        async with aclosing(self._pieces):
            async for piece in self._pieces:
                await queue.put(piece)

    async def _relay(
        self,
        queue: asyncio.Queue[bytes],
        producing: asyncio.Task[None],
        gone: asyncio.Task[None],
        stopping: asyncio.Task[bool],
        send: Send,
    ) -> None:
        while True:
            piece = await _next(queue, producing, gone, stopping, self._pause)
            if isinstance(piece, Exception):
                if not self._begun:
                    raise piece
                piece, last = self._failed(_worded(piece)), True
            else:
                last = piece is None
            await self._write(send, piece or b"", last=last)
            if last:
                return

    @property
    def _pause(self) -> float:
        return KEEPALIVE_S if self._begun else PATIENCE_S

    async def _write(self, send: Send, piece: bytes, *, last: bool) -> None:
        async with asyncio.timeout(self._write_timeout):
            if not self._begun:
                self._begun = True
                await send(
                    {
                        "type": "http.response.start",
                        "status": self.status_code,
                        "headers": self.raw_headers,
                    }
                )
            await send({"type": "http.response.body", "body": piece, "more_body": not last})


async def _next(
    queue: asyncio.Queue[bytes],
    producing: asyncio.Task[None],
    gone: asyncio.Task[None],
    stopping: asyncio.Task[bool],
    pause: float,
) -> bytes | Exception | None:
    """The next piece, a keepalive after a pause, the error that ends the stream, or its end."""
    if queue.empty():
        getting = asyncio.create_task(queue.get())
        done, _ = await asyncio.wait(
            {getting, producing, gone, stopping},
            timeout=pause,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if getting in done:
            return getting.result()
        getting.cancel()
        await asyncio.gather(getting, return_exceptions=True)
        if not done:
            return _KEEPALIVE
    if gone.done():
        raise ClientGone
    if not queue.empty():
        return queue.get_nowait()
    if not producing.done():
        return ShuttingDown("the server is restarting; ask again in a moment")
    error = producing.exception()
    if error is None or isinstance(error, Exception):
        return error
    raise error


def _worded(error: Exception) -> QuireError:
    """What readers are told; what nobody foresaw goes to the log instead."""
    if isinstance(error, QuireError):
        return error
    _log.error("a stream failed", exc_info=error)
    return QuireError(UNEXPECTED)


async def disconnected(receive: Receive) -> None:
    """Return when the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def while_connected(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """The result of the work, which is cancelled (`ClientGone`) when the client leaves."""
    working = asyncio.create_task(work)
    gone = asyncio.create_task(disconnected(request.receive))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGone
    finally:
        for task in (working, gone):
            task.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)
