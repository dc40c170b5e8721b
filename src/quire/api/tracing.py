"""One id per request, on every response and log line."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_trace_id: ContextVar[str | None] = ContextVar("quire_trace_id", default=None)
_ACCEPTED = re.compile(r"^[A-Za-z0-9._-]{8,64}$")


def current_trace_id() -> str:
    """The id of the request being served; a fresh one outside of requests."""
    return _trace_id.get() or uuid.uuid4().hex


class TraceMiddleware:
    """Takes the caller's `X-Trace-Id` if it is a sane one, else makes one; always echoes it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Bind the id to the context of this request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-trace-id", "")
        trace_id = given if _ACCEPTED.match(given) else uuid.uuid4().hex
        token = _trace_id.set(trace_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Trace-Id"] = trace_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            _trace_id.reset(token)
