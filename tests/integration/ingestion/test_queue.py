"""Workers on a real PostgreSQL: one dies or falls asleep, the other takes over."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from quire.database import Database, upgrade
from quire.index.edge import EdgeIndex
from quire.ingestion.jobs import IngestionJob, Jobs
from quire.ingestion.queue import JobQueue
from quire.models import JobStatus
from tests.postgres import fresh_database
from tests.workshop import all_chunks, open_workshop, timeless, write_pages

REPOSITORY = Path(__file__).parents[3]


class Office:
    """A queue with two workers in processes of their own."""

    def __init__(self, url: str, database: Database, folder: Path, kind: str) -> None:
        self.url = url
        self.folder = folder
        self.kind = kind
        self.jobs = Jobs(database)
        self.queue = JobQueue(database, self.jobs)
        self.workers: dict[int, asyncio.subprocess.Process] = {}

    async def hire(self) -> None:
        worker = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.integration.ingestion.worker",
            self.url,
            str(self.folder),
            self.kind,
            cwd=REPOSITORY,
        )
        self.workers[worker.pid] = worker

    def begun(self, job: IngestionJob) -> list[int]:
        """Who began to work on the job, in order."""
        path = self.folder / "begun.txt"
        lines = path.read_text().split("\n") if path.exists() else []
        pairs = [line.split() for line in lines if line]
        return [int(pid) for job_id, pid in pairs if int(job_id) == job.job_id]

    async def wait_until_begun(self, job: IngestionJob, times: int = 1) -> int:
        async with asyncio.timeout(60):
            while len(self.begun(job)) < times:  # noqa: ASYNC110 — another process writes
                await asyncio.sleep(0.05)
        return self.begun(job)[times - 1]

    async def wait_for(self, job: IngestionJob, status: JobStatus) -> IngestionJob:
        async with asyncio.timeout(60):
            while (now := await self.jobs.get(job.job_id)).status != status:
                assert now.is_active, now
                await asyncio.sleep(0.1)
        return now


@asynccontextmanager
async def open_office(folder: Path, kind: str) -> AsyncGenerator[Office]:
    url = fresh_database()
    database = Database(url)
    await upgrade(database)
    office = Office(url, database, folder, kind)
    await office.queue.open()
    try:
        await office.hire()
        await office.hire()
        yield office
    finally:
        for worker in office.workers.values():
            if worker.returncode is None:
                worker.kill()
            await worker.wait()
        await office.queue.close()
        await database.close()


@pytest.mark.slow
async def test_when_one_worker_is_killed_the_other_finishes_within_45_seconds(tmp_path: Path):
    write_pages(tmp_path / "book", 30)
    async with open_office(tmp_path, "ingest") as office:
        job = await office.queue.submit("book", root=str(tmp_path / "book"))
        victim = await office.wait_until_begun(job)
        async with asyncio.timeout(30):
            while not (await office.jobs.get(job.job_id)).progress.get("files_done"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        os.kill(victim, signal.SIGKILL)
        died = time.monotonic()
        done = await office.wait_for(job, "completed")
        assert time.monotonic() - died < 45
        assert (done.attempts, done.files_discovered) == (2, 30)
        assert 0 < done.files_skipped < 30
        assert office.begun(job)[1] != victim
    index = await EdgeIndex.open(tmp_path / "index")
    found = await all_chunks(index, "book")
    await index.close()
    async with open_workshop(tmp_path / "clean") as clean:
        (tmp_path / "clean" / "book").rmdir()
        (tmp_path / "book").rename(tmp_path / "clean" / "book")
        await clean.ingester.run(clean.book)
        assert {k: timeless(c) for k, c in found.items()} == await clean.snapshot()


@pytest.mark.slow
async def test_a_worker_that_was_paused_cannot_end_the_newer_ones_work(tmp_path: Path):
    async with open_office(tmp_path, "sleep") as office:
        job = await office.queue.submit("book", root="/nowhere")
        sleeper = await office.wait_until_begun(job)
        os.kill(sleeper, signal.SIGSTOP)
        other = await office.wait_until_begun(job, times=2)
        assert other != sleeper
        os.kill(sleeper, signal.SIGCONT)
        done = await office.wait_for(job, "completed")
        assert done.attempts == 2
        assert office.workers[sleeper].returncode is None
        os.kill(other, signal.SIGKILL)
        second = await office.queue.submit("another", root="/nowhere")
        assert await office.wait_until_begun(second) == sleeper
        await office.wait_for(second, "completed")


@pytest.mark.slow
async def test_cancelling_reaches_the_worker(tmp_path: Path):
    async with open_office(tmp_path, "sleep") as office:
        job = await office.queue.submit("book", root="/nowhere")
        await office.wait_until_begun(job)
        await office.queue.cancel(job.job_id)
        ended = await office.wait_for(job, "cancelled")
        assert ended.completed_at is not None
