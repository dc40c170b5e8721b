"""A process that ingests and is killed while it does; imported once, then forked."""

from __future__ import annotations

import asyncio
from multiprocessing.connection import Connection
from pathlib import Path

from quire.index.edge import EdgeIndex
from tests.workshop import open_workshop


def ingest(folder: Path, started: Connection) -> None:
    """Ingest `folder/book`, saying so just before."""
    asyncio.run(_ingest(folder, started))


async def _ingest(folder: Path, started: Connection) -> None:
    index = await EdgeIndex.open(folder / "index")
    async with open_workshop(folder, index=index, batch_texts=24, batch_files=4) as shop:
        shop.embedder.delay = 0.01
        book = shop.book
        started.send("started")
        await shop.ingester.run(book)
        started.send("finished")
