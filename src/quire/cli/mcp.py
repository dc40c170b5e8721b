"""`quire mcp`: the book for an assistant on this machine, over stdin and stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from quire.cli.terminal import HomeOption, run, settings_of

if TYPE_CHECKING:
    from quire.settings import Settings


def mcp(home: HomeOption = None) -> None:
    """Speak the Model Context Protocol on stdin and stdout."""
    from quire.api import logs

    settings = settings_of(home=home)
    logs.configure(settings)
    run(_speak(settings))


async def _speak(settings: Settings) -> None:
    from quire.mcp import create_server
    from quire.wiring import Library

    async with Library.open(settings) as library:
        await create_server(library).run_stdio_async()
