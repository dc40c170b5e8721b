"""`quire serve`: the HTTP API, the chat page and the widget."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.allocation import share_arenas
from quire.cli.terminal import HomeOption, err, fail, settings_of
from quire.errors import InvalidSetting, QuireError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from quire.settings import Settings

GRACE_S = 10
"""How long requests may go on after the process was told to stop."""
BACKLOG = 2048
SWITCH_S = 0.001
"""How long a thread keeps the interpreter while another waits; Python's own 5 ms add up where
several threads ingest, and the event loop is one that waits."""


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    home: HomeOption = None,
) -> None:
    """Serve the books that were ingested."""
    listen(settings_of(home=home), host, port)


def listen(settings: Settings, host: str, port: int) -> None:
    """Run the server until it is told to stop; streams get an event that says so."""
    import gc

    # what is loaded now stays for good: looking for garbage in it only costs time
    gc.disable()
    share_arenas()
    sys.setswitchinterval(SWITCH_S)
    from quire.api.origins import is_loopback

    if settings.auth == "off" and not is_loopback(host):
        fail(
            InvalidSetting(
                f"QUIRE_AUTH: may be off on loopback addresses only, not on {host}; "
                "set QUIRE_AUTH=on and create a key with: quire keys create"
            )
        )
    import socket

    import uvicorn

    from quire.api import logs
    from quire.api.app import begin_shutdown, create_app

    logs.configure(settings)
    app = create_app(settings)

    class Server(uvicorn.Server):
        """Tells the application as soon as it is told to stop."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            gc.freeze()
            gc.enable()
            if self.started:
                err.print(f"Quire on [bold]http://{host}:{port}[/]  (stop with Ctrl-C)")

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            begin_shutdown(app)
            await super().shutdown(sockets)

    told = _FailureTold(app)
    config = uvicorn.Config(
        told,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_graceful_shutdown=GRACE_S,
        lifespan="on",
    )
    server = Server(config)
    try:
        server.run()
    finally:  # the server exits by itself if it can't start
        if told.failure is not None:
            fail(told.failure)
    if not server.started:
        raise typer.Exit(1)


class _FailureTold:
    """Keeps why the application didn't start, which the server would print as a traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.failure: QuireError | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on but the traceback."""

        async def tell(message: Message) -> None:
            error = sys.exception()
            if message["type"] == "lifespan.startup.failed" and isinstance(error, QuireError):
                self.failure = error
                message = {"type": message["type"], "message": ""}
            await send(message)

        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            await self._app(scope, receive, tell)
        except QuireError:
            if self.failure is None:
                raise
