from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from quire.database import Database, upgrade
from quire.errors import EmbedderUnavailable, InvalidBook
from quire.ingestion.jobs import MAX_ATTEMPTS, IngestionJob, Jobs
from quire.ingestion.progress import FileError, Progress, ProgressCallback, Report
from quire.ingestion.runner import JobRunner
from quire.ingestion.state import Guard


@pytest.fixture
async def jobs(tmp_path: Path) -> AsyncIterator[Jobs]:
    database = Database(f"sqlite:///{tmp_path / 'quire.db'}")
    await upgrade(database)
    yield Jobs(database)
    await database.close()


REPORT = Report(
    files_discovered=3,
    files_processed=1,
    files_skipped=1,
    files_failed=1,
    chunks_created=7,
    chunks_deleted=2,
    embedded=7,
    tokens=70,
    errors=[FileError("bad.md", "is not UTF-8", 4)],
)
HALF = Progress(1, 2, 3, 6, 3, 1.5, 2.0)


async def succeed(job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
    progress(HALF)
    return REPORT


async def test_a_finished_job_carries_its_figures(jobs: Jobs):
    runner = JobRunner(jobs, succeed)
    submitted = await runner.submit("book", root="/books/book")
    assert submitted.status == "queued"
    job = await runner.wait(submitted.job_id)
    assert job.status == "completed"
    assert job.files_processed + job.files_skipped + job.files_failed == job.files_discovered
    assert (job.chunks_created, job.chunks_deleted, job.embedded, job.tokens) == (7, 2, 7, 70)
    assert job.errors == [
        {"source_file": "bad.md", "message": "is not UTF-8", "line": 4, "kept_chunks": 0}
    ]
    assert job.progress["files_done"] == 1
    assert job.completed_at is not None
    assert job.duration_seconds == 0


async def test_a_reason_that_may_pass_is_tried_again_and_given_up_after_five(jobs: Jobs):
    tries = 0

    async def fail(job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
        nonlocal tries
        tries += 1
        raise EmbedderUnavailable("the service is down")

    runner = JobRunner(jobs, fail, first_delay=0.001)
    job = await runner.wait((await runner.submit("book", root="/")).job_id)
    assert (job.status, tries, job.attempts) == ("failed", MAX_ATTEMPTS, MAX_ATTEMPTS)
    assert job.error_message == "gave up after 5 attempts: the service is down"


async def test_a_reason_that_stays_fails_at_once(jobs: Jobs):
    async def fail(job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
        raise InvalidBook("quire.toml: profile is wrong")

    runner = JobRunner(jobs, fail)
    job = await runner.wait((await runner.submit("book", root="/")).job_id)
    assert (job.status, job.attempts) == ("failed", 1)
    assert job.error_message == "quire.toml: profile is wrong"


async def test_a_bug_fails_the_job_and_not_the_runner(jobs: Jobs):
    async def fail(job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
        raise ZeroDivisionError("oops")

    runner = JobRunner(jobs, fail)
    job = await runner.wait((await runner.submit("book", root="/")).job_id)
    assert job.status == "failed"
    assert job.error_message == "unexpected ZeroDivisionError: oops"


class Endless:
    """Work that says when it has begun and never ends."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def __call__(self, job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
        self.begun.set()
        await asyncio.sleep(3600)
        return REPORT


async def test_a_running_job_can_be_cancelled(jobs: Jobs):
    work = Endless()
    runner = JobRunner(jobs, work, renew_every=0.01)
    job = await runner.submit("book", root="/")
    await work.begun.wait()
    await runner.cancel(job.job_id)
    assert (await runner.wait(job.job_id)).status == "cancelled"


async def test_a_waiting_job_can_be_cancelled(jobs: Jobs):
    work = Endless()
    runner = JobRunner(jobs, work, renew_every=0.01)
    await runner.submit("one", root="/")
    second = await runner.submit("two", root="/")
    await work.begun.wait()
    assert (await runner.cancel(second.job_id)).status == "cancelled"
    await runner.close()
    assert (await jobs.get(second.job_id)).status == "cancelled"


async def test_closing_puts_the_job_back_and_a_new_runner_finishes_it(jobs: Jobs):
    work = Endless()
    runner = JobRunner(jobs, work)
    job = await runner.submit("book", root="/")
    await work.begun.wait()
    await runner.close()
    waiting = await jobs.get(job.job_id)
    assert (waiting.status, waiting.attempts) == ("queued", 0)
    second = JobRunner(jobs, succeed)
    await second.start()
    assert (await second.wait(job.job_id)).status == "completed"


async def test_a_job_left_running_by_a_crash_is_taken_up_at_the_start(jobs: Jobs):
    job = await jobs.create("book", root="/")
    assert await jobs.claim(job.job_id) is not None
    runner = JobRunner(jobs, succeed)
    await runner.start()
    done = await runner.wait(job.job_id)
    assert (done.status, done.attempts) == ("completed", 2)


async def test_the_same_idempotency_key_starts_one_job(jobs: Jobs):
    runner = JobRunner(jobs, succeed)
    first = await runner.submit("book", root="/", owner="key", idempotency_key="k")
    again = await runner.submit("book", root="/", owner="key", idempotency_key="k")
    assert again.job_id == first.job_id
    await runner.wait(first.job_id)
    later = await runner.submit("book", root="/", owner="key", idempotency_key="k")
    assert (later.job_id, later.status) == (first.job_id, "completed")
    await runner.close()
