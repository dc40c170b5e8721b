"""One id per request, on every response and log line; and one log line per request."""

from __future__ import annotations

import logging
import re
import time
import uuid
from contextvars import ContextVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_trace_id: ContextVar[str | None] = ContextVar("quire_trace_id", default=None)
_ACCEPTED = re.compile(r"^[A-Za-z0-9._-]{8,64}$")

_log = logging.getLogger("quire.requests")


def current_trace_id() -> str:
    """The id of the request being served; a fresh one outside of requests."""
    return _trace_id.get() or uuid.uuid4().hex


def request_trace_id() -> str | None:
    """The id of the request being served; None outside of requests."""
    return _trace_id.get()


class TraceMiddleware:
    """Takes the caller's `X-Trace-Id` if it is a sane one, else makes one; always echoes it.

    Logs and measures each request by its route, never by its address, which may hold ids.
    """

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
        started = time.perf_counter()
        status = 0

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Trace-Id"] = trace_id
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            _report(scope, status, time.perf_counter() - started)
            _trace_id.reset(token)


def route_of(scope: Scope) -> str:
    """The matched route's pattern, such as `/sessions/{session_id}`; never what was in it."""
    for name in ("route", "endpoint"):
        if path := getattr(scope.get(name), "path", None):
            return str(path)
    return "unmatched"


def _report(scope: Scope, status: int, seconds: float) -> None:
    route, method = route_of(scope), scope["method"]
    details = {
        "method": method,
        "route": route,
        "status": status,
        "duration_ms": round(seconds * 1000, 1),
    }
    _log.info("%s %s %d %.0f ms", method, route, status, seconds * 1000, extra=details)
    library = getattr(scope["app"].state, "library", None) if "app" in scope else None
    if library is not None and library.telemetry.metrics:
        observed = library.telemetry.metrics.requests.labels(method, route, str(status))
        observed.observe(seconds)
