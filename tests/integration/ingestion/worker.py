"""A worker process for the queue: `python -m tests.integration.ingestion.worker URL FOLDER KIND`.

KIND `ingest` ingests for real; `sleep` only takes its time. Each job it begins is noted in
`FOLDER/begun.txt` with this process's id.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import timedelta
from pathlib import Path

from quire.books import load_book
from quire.database import Database
from quire.index.edge import EdgeIndex
from quire.ingestion.ingester import Ingester
from quire.ingestion.jobs import IngestionJob, Jobs
from quire.ingestion.progress import ProgressCallback, Report
from quire.ingestion.queue import JobQueue
from quire.ingestion.runner import Work
from quire.ingestion.state import Guard, IngestionState
from quire.testing.embedding import HashEmbedder


def ingesting(database: Database, folder: Path) -> Work:
    async def work(job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
        note(folder, job)
        index = await EdgeIndex.open(folder / "index")
        try:
            ingester = Ingester(
                state=IngestionState(database),
                index=index,
                embedder=HashEmbedder(delay=0.5),
                batch_files=2,
            )
            book = load_book(Path(job.root), book_id=job.book_id)
            return await ingester.run(book, mode=job.mode, progress=progress, guard=guard)
        finally:
            await index.close()

    return work


def sleeping(database: Database, folder: Path) -> Work:
    state = IngestionState(database)

    async def work(job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
        note(folder, job)
        for _ in range(20):
            await asyncio.sleep(0.1)
            await state.check(guard)
        return Report()

    return work


def note(folder: Path, job: IngestionJob) -> None:
    with (folder / "begun.txt").open("a") as stream:
        stream.write(f"{job.job_id} {os.getpid()}\n")


async def main(url: str, folder: Path, kind: str) -> None:
    database = Database(url)
    work = ingesting(database, folder) if kind == "ingest" else sleeping(database, folder)
    lease = timedelta(seconds=15 if kind == "ingest" else 3)
    jobs = Jobs(database, lease=lease)
    quick = {} if kind == "ingest" else {"heartbeat": 1.0, "stalled_after": 3.0, "look_every": 0.5}
    queue = JobQueue(database, jobs, **quick)
    await queue.open()
    try:
        await queue.work(work)
    finally:
        await queue.close()
        await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
