"""The HTTP application, assembled in one place."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI

from quire import __version__
from quire.api import documentation, errors, mcp, pages, reference
from quire.api.bodies import BodyLimitMiddleware, JsonByDefaultMiddleware
from quire.api.headers import HeadersMiddleware
from quire.api.origins import CorsMiddleware, LoopbackHostMiddleware
from quire.api.routes import (
    admin,
    books,
    chat,
    health,
    ingestion,
    llms,
    openai,
    search,
    sessions,
)
from quire.api.slots import Slots
from quire.api.tracing import TraceMiddleware
from quire.errors import MissingExtra, QuireError
from quire.settings import Settings
from quire.wiring import Library

log = logging.getLogger(__name__)

DESCRIPTION = """\
Answers questions about a book or a documentation site, only from its pages.
Every sentence carries a citation whose quote stands, character for character, in the source;
when the book doesn't say, the answer says so.
"""
ROUTES = (chat, search, books, llms, sessions, ingestion, admin, openai, health)


def create_app(settings: Settings) -> FastAPI:
    """An application that opens its library when it starts and closes it when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with Library.open(settings, serving=True) as library:
            await library.warm()
            async with serving(app, library):
                yield

    app = FastAPI(
        title="Quire",
        version=__version__,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.stopping = asyncio.Event()
    app.state.slots = Slots(settings.max_requests)
    errors.install(app)
    for routes in ROUTES:
        app.include_router(routes.router)
    mcp.install(app)
    pages.install(app)
    documentation.install(app)
    reference.install(app)
    # the last one added is the outermost
    app.add_middleware(errors.UnexpectedErrorMiddleware)
    app.add_middleware(JsonByDefaultMiddleware)
    app.add_middleware(BodyLimitMiddleware, max_bytes=settings.max_body_bytes)
    app.add_middleware(CorsMiddleware)
    if settings.auth == "off":
        app.add_middleware(LoopbackHostMiddleware)
    app.add_middleware(HeadersMiddleware)
    app.add_middleware(TraceMiddleware)
    return app


@asynccontextmanager
async def serving(app: FastAPI, library: Library) -> AsyncGenerator[None]:
    """Everything that runs beside the requests while the application is up."""
    app.state.library = library
    with suppress(MissingExtra):
        library.telemetry.measure()
    if library.queue is None and library.database.dialect == "sqlite":
        await library.runner.start()
    beside = [
        asyncio.create_task(library.housekeeping.run(), name="housekeeping"),
        asyncio.create_task(_prepare(library), name="prepare"),
    ]
    try:
        async with mcp.running(app, library):
            yield
    finally:
        begin_shutdown(app)
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)


async def _prepare(library: Library) -> None:
    """Load the first answer's parts; what can't be loaded is said now, not when asked."""
    try:
        await library.prepare()
    except QuireError as error:
        log.warning("answers will fail: %s", error.message)
    gc.freeze()  # what is loaded stays: looking through it for garbage would stop everything


def begin_shutdown(app: FastAPI) -> None:
    """End the streams, each with an event that says why; further requests may still finish."""
    app.state.stopping.set()
