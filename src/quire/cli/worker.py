"""`quire worker`: works on ingestion jobs for API processes that share its stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.allocation import share_arenas
from quire.cli.terminal import HomeOption, err, fail, run, settings_of
from quire.errors import InvalidSetting

if TYPE_CHECKING:
    from quire.settings import Settings


def worker(
    concurrency: Annotated[int, typer.Option(min=1, max=32, help="Jobs at once.")] = 1,
    home: HomeOption = None,
) -> None:
    """Take ingestion jobs until told to stop; unfinished ones go back to the queue."""
    from quire.api import logs

    settings = settings_of(home=home)
    if settings.database_url is None or settings.qdrant_url is None:
        fail(
            InvalidSetting(
                "DATABASE_URL, QDRANT_URL: workers need stores that several processes share; "
                "without them `quire serve` works on its jobs itself"
            )
        )
    logs.configure(settings)
    share_arenas()
    run(_work(settings, concurrency))


async def _work(settings: Settings, concurrency: int) -> None:
    import asyncio
    import signal

    from quire.wiring import Library

    async with Library.open(settings) as library:
        assert library.queue is not None
        working = asyncio.create_task(library.queue.work(library.work, concurrency=concurrency))
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(name, working.cancel)
        err.print("Worker ready  (stop with Ctrl-C)")
        await asyncio.gather(working, return_exceptions=True)
        if not working.cancelled() and (error := working.exception()):
            raise error
