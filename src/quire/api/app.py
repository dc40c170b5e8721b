"""The HTTP application, assembled in one place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from quire import __version__
from quire.api import errors, pages
from quire.api.bodies import BodyLimitMiddleware, JsonByDefaultMiddleware
from quire.api.headers import SecurityHeadersMiddleware
from quire.api.routes import books, chat, health, ingestion, search, sessions
from quire.api.tracing import TraceMiddleware
from quire.settings import Settings
from quire.wiring import Library

DESCRIPTION = """\
Answers questions about a book or a documentation site, only from its pages.
Every sentence carries a citation whose quote stands, character for character, in the source;
when the book doesn't say, the answer says so.
"""


def create_app(settings: Settings) -> FastAPI:
    """An application that opens its library when it starts and closes it when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with Library.open(settings) as library:
            await library.warm()
            app.state.library = library
            yield

    app = FastAPI(title="Quire", version=__version__, description=DESCRIPTION, lifespan=lifespan)
    errors.install(app)
    for routes in (chat, search, books, sessions, ingestion, health):
        app.include_router(routes.router)
    pages.install(app)
    # the last one added is the outermost
    app.add_middleware(JsonByDefaultMiddleware)
    app.add_middleware(BodyLimitMiddleware, max_bytes=settings.max_body_bytes)
    app.add_middleware(SecurityHeadersMiddleware)
    app.add_middleware(TraceMiddleware)
    return app
