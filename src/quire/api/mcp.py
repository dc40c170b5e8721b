"""MCP over streamable HTTP at `/mcp`, behind the same keys and limits as every route."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.security.utils import get_authorization_scheme_param
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from quire.api.dependencies import credentials_of, library_of
from quire.api.headers import announce
from quire.api.origins import is_loopback
from quire.api.slots import Slots
from quire.errors import Forbidden
from quire.mcp import create_server, speaking_for
from quire.wiring import Library


class McpEndpoint:
    """Checks origin, key and limits, then hands the request to the SDK.

    Sessions are not kept: any replica can answer any request.
    """

    path = "/mcp"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One message of the protocol."""
        request = Request(scope, receive)
        library = await library_of(request)
        await _check_origin(request, library)
        scheme, token = get_authorization_scheme_param(request.headers.get("authorization"))
        key = token if scheme.lower() == "bearer" else request.headers.get("x-api-key")
        caller = await library.gate.admit(credentials_of(request, key or None), "search")
        announce(request, caller.allowances)
        slots = request.app.state.slots
        assert isinstance(slots, Slots)
        with slots.one(), speaking_for(caller):
            await request.app.state.mcp.session_manager.handle_request(scope, receive, send)


async def _check_origin(request: Request, library: Library) -> None:
    """A page of another site must not speak to a server on the reader's machine."""
    origin = request.headers.get("origin")
    if origin is None:
        return
    host = request.headers.get("host", "")
    if origin in (f"http://{host}", f"https://{host}"):
        return
    if library.gate.enabled:
        allowed = origin in await library.keys.origins()
    else:
        name = origin.partition("://")[2]
        name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        allowed = is_loopback(name)
    if not allowed:
        raise Forbidden("this site may not speak to the server", details={"origin": origin})


def install(app: FastAPI) -> None:
    """Serve the protocol at `/mcp`."""
    app.router.routes.append(Route("/mcp", McpEndpoint(), include_in_schema=False))


@asynccontextmanager
async def running(app: FastAPI, library: Library) -> AsyncGenerator[None]:
    """The SDK's part of the application's life."""
    server = create_server(library)
    server.streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=library.settings.max_body_bytes,
        # origin and host are checked before a request comes here, with the keys' sites
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    app.state.mcp = server
    async with server.session_manager.run():
        yield
