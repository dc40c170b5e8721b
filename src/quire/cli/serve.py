"""`quire serve`: the HTTP API, the chat page and the widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.terminal import HomeOption, err, fail, settings_of
from quire.errors import InvalidSetting

if TYPE_CHECKING:
    from quire.settings import Settings


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    home: HomeOption = None,
) -> None:
    """Serve the books that were ingested."""
    listen(settings_of(home=home), host, port)


def listen(settings: Settings, host: str, port: int) -> None:
    """Run the server until it is told to stop."""
    if settings.auth == "off" and not is_loopback(host):
        fail(
            InvalidSetting(
                f"QUIRE_AUTH: may be off on loopback addresses only, not on {host}; "
                "set QUIRE_AUTH=on and create a key with: quire keys create"
            )
        )
    import uvicorn

    from quire.api.app import create_app

    err.print(f"Quire on [bold]http://{host}:{port}[/]  (stop with Ctrl-C)")
    uvicorn.run(
        create_app(settings),
        host=host,
        port=port,
        log_level=settings.log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach the address."""
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
