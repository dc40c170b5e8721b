"""Bodies over the limit are refused while they arrive, not after."""

from __future__ import annotations

from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quire.api.errors import problem


class _TooLarge(Exception):
    """Raised inside the application's `receive`, caught by the middleware."""


class BodyLimitMiddleware:
    """Answers 413 as soon as the announced or received length passes the limit."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self.app = app
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the bytes as they come."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > self.max_bytes:
            await self._refuse(scope, receive, send)
            return
        received = 0
        started = exceeded = False

        async def counted() -> Message:
            nonlocal received, exceeded
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > self.max_bytes:
                    exceeded = True
                    raise _TooLarge
            return message

        async def watched(message: Message) -> None:
            nonlocal started
            if exceeded and not started:
                return  # the framework's own word for a body that broke off
            started = True
            await send(message)

        with suppress(_TooLarge):
            await self.app(scope, counted, watched)
        if exceeded and not started:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = problem(
            413,
            "payload_too_large",
            f"the body is over the limit of {self.max_bytes} bytes",
            {"limit": self.max_bytes},
            {"Connection": "close"},
        )
        await response(scope, receive, send)


class JsonByDefaultMiddleware:
    """Reads a body as JSON when the client didn't say what it is.

    `curl -d` announces a form unless told otherwise, and no route takes one. Browsers always
    send `Origin` with a form that goes to another site; those keep their type and are refused,
    so that a foreign page can't post to a server on the reader's machine.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put the type right before the application sees it."""
        if scope["type"] == "http":
            headers = MutableHeaders(scope=scope)
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind in ("", "application/x-www-form-urlencoded") and "origin" not in headers:
                headers["content-type"] = "application/json"
        await self.app(scope, receive, send)
