"""What routes ask for: the library, the caller (checked and counted), and a slot to work in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from quire.access import Caller, Credentials, Scope
from quire.api.headers import announce
from quire.api.slots import Slots
from quire.wiring import Library

LONGEST_VISITOR_ID = 128

bearer = HTTPBearer(auto_error=False, description="A key made with `quire keys create`.")
header_key = APIKeyHeader(name="X-API-Key", auto_error=False, description="The same key.")


async def library_of(request: Request) -> Library:
    """The library opened by the application's lifespan (async: no thread for a look-up)."""
    library = request.app.state.library
    assert isinstance(library, Library)
    return library


LibraryDependency = Annotated[Library, Depends(library_of)]


def require(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    """A dependency that lets only callers with this scope in, and counts their requests."""

    async def admitted(
        request: Request,
        library: LibraryDependency,
        token: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)],
        key: Annotated[str | None, Security(header_key)],
    ) -> Caller:
        given = token.credentials if token else key
        caller = await library.gate.admit(credentials_of(request, given), scope)
        announce(request, caller.allowances)
        return caller

    return admitted


ChatCaller = Annotated[Caller, Depends(require("chat"))]
SearchCaller = Annotated[Caller, Depends(require("search"))]
IngestCaller = Annotated[Caller, Depends(require("ingest"))]
AdminCaller = Annotated[Caller, Depends(require("admin"))]


def credentials_of(request: Request, key: str | None) -> Credentials:
    """What the request says of where it comes from."""
    visitor = request.headers.get("x-visitor-id", "")[:LONGEST_VISITOR_ID]
    return Credentials(
        key=key,
        origin=origin_of(request),
        visitor=visitor or None,
        address=request.client.host if request.client else "",
    )


def origin_of(request: Request) -> str | None:
    """The site a request comes from; browsers leave it out of a page's reads of its own site."""
    if origin := request.headers.get("origin"):
        return origin
    if request.headers.get("sec-fetch-site") == "same-origin":
        return f"{request.url.scheme}://{request.headers.get('host', '')}"
    return None


async def slot(request: Request) -> AsyncIterator[None]:
    """A place among the requests in progress, until the last byte of the response."""
    slots = request.app.state.slots
    assert isinstance(slots, Slots)
    with slots.one():
        yield


Slot = Depends(slot)
