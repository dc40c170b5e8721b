"""Headers on every response: security, and what is left of the caller's limits."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quire.access import Allowance

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
OTHERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_ANNOUNCED = "quire.headers"


def announce(request: HTTPConnection, allowances: Sequence[Allowance]) -> None:
    """Have the response say what is left of these limits."""
    request.scope.setdefault(_ANNOUNCED, {}).update(limit_headers(allowances))


def limit_headers(allowances: Sequence[Allowance]) -> dict[str, str]:
    """`RateLimit` and its policy, and the older `X-RateLimit-*` of the tightest limit."""
    if not allowances:
        return {}
    tightest = min(allowances, key=lambda allowance: allowance.remaining / allowance.limit)
    return {
        "RateLimit-Policy": ", ".join(f'"{a.name}";q={a.limit};w={a.window}' for a in allowances),
        "RateLimit": ", ".join(f'"{a.name}";r={a.remaining};t={a.reset}' for a in allowances),
        "X-RateLimit-Limit": str(tightest.limit),
        "X-RateLimit-Remaining": str(tightest.remaining),
        "X-RateLimit-Reset": str(tightest.reset),
    }


class HeadersMiddleware:
    """Adds what is missing; a route that sets a header itself keeps its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to the start of the response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        announced: dict[str, str] = scope.setdefault(_ANNOUNCED, {})

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", PAGE_POLICY)
                for name, value in (*OTHERS.items(), *announced.items()):
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)
