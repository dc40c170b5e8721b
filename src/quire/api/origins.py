"""Which sites and host names may reach the API from a browser."""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quire.api.errors import problem
from quire.errors import StorageUnavailable

ALLOWED_METHODS = "GET, POST, PATCH, DELETE"
ALLOWED_HEADERS = (
    "Authorization, Content-Type, X-API-Key, X-Visitor-Id, X-Trace-Id, Idempotency-Key, "
    "Last-Event-ID"
)
EXPOSED_HEADERS = (
    "X-Trace-Id, Retry-After, RateLimit, RateLimit-Policy, X-RateLimit-Limit, "
    "X-RateLimit-Remaining, X-RateLimit-Reset, Location"
)


class CorsMiddleware:
    """Lets pages of the publishable keys' sites read responses; nobody else's.

    The list is the one of the keys in force now, so a new key needs no restart. Which key
    works from which site is checked again with the key itself.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer preflights, and mark the responses that may be read."""
        headers = Headers(scope=scope) if scope["type"] == "http" else None
        if headers is None or "origin" not in headers:
            await self.app(scope, receive, send)
            return
        origin = headers["origin"]
        allowed = await _is_known(Request(scope), origin)
        if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            await _preflight(origin, allowed=allowed)(scope, receive, send)
            return

        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                answer.add_vary_header("Origin")
                if allowed:
                    answer["Access-Control-Allow-Origin"] = origin
                    answer["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
            await send(message)

        await self.app(scope, receive, marked)


async def _is_known(request: Request, origin: str) -> bool:
    library = request.app.state.library
    try:
        return library.gate.enabled and origin in await library.keys.origins()
    except StorageUnavailable:
        return False


def _preflight(origin: str, *, allowed: bool) -> Response:
    if not allowed:
        return Response(status_code=403, headers={"Vary": "Origin"})
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Methods": ALLOWED_METHODS,
            "Access-Control-Allow-Headers": ALLOWED_HEADERS,
            "Access-Control-Max-Age": "600",
            "Vary": "Origin",
        },
    )


class LoopbackHostMiddleware:
    """Without keys the API serves this machine alone, under names that can't be someone else's.

    A foreign page can let its own host name point to 127.0.0.1 and so become "same origin";
    its requests then carry that name, and are refused.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at the `Host` header."""
        if scope["type"] == "http" and not is_loopback(_host(Headers(scope=scope))):
            refusal = problem(
                403,
                "forbidden",
                "without keys the API answers on localhost only; set QUIRE_AUTH=on for others",
            )
            await refusal(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _host(headers: Headers) -> str:
    host = headers.get("host", "")
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can be behind this name or address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
