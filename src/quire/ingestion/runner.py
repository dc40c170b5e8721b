"""Working on jobs inside this process, and what any worker does with a job it holds."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal

from quire.errors import DependencyError, QuireError, StorageUnavailable
from quire.ingestion.jobs import IngestionJob, Jobs, Lease
from quire.ingestion.progress import Progress, ProgressCallback, Report
from quire.ingestion.state import Guard, LeaseLost
from quire.models import IngestionMode

Work = Callable[[IngestionJob, ProgressCallback, Guard], Awaitable[Report]]
"""Ingests a job's book; records under the guard."""

Outcome = Literal["done", "again"]

_log = logging.getLogger(__name__)


async def attempt(
    jobs: Jobs,
    job_id: int,
    work: Work,
    *,
    abandoned: bool = False,
    renew_every: float = 2.0,
    progress: ProgressCallback | None = None,
) -> Outcome:
    """Claim a job if it is free, do its work, keep its lease, and store how it ended.

    Returns `again` when it failed for a reason that may pass and attempts are left. Stops
    the work when cancelling is asked for or the lease is lost. Being cancelled itself (the
    worker shuts down) puts the job back into the queue. For `abandoned` see `Jobs.claim`.
    """
    claim = asyncio.ensure_future(jobs.claim(job_id, abandoned=abandoned))
    try:
        lease = await asyncio.shield(claim)
        if lease is None:
            return "done"
        return await _execute(jobs, lease, work, renew_every, progress)
    except asyncio.CancelledError:
        lease = await claim
        if lease is not None:
            with suppress(LeaseLost, StorageUnavailable):
                await jobs.release(lease)
        raise


async def _execute(
    jobs: Jobs,
    lease: Lease,
    work: Work,
    renew_every: float,
    progress: ProgressCallback | None,
) -> Outcome:
    latest: list[Progress] = []

    def note(now: Progress) -> None:
        latest[:] = [now]
        if progress:
            progress(now)

    job = await jobs.get(lease.job_id)
    run = asyncio.ensure_future(work(job, note, jobs.guard(lease)))
    try:
        cancelled = await _attend(jobs, lease, run, latest, renew_every)
    except LeaseLost:
        _log.warning("job %s was taken over by another worker", lease.job_id)
        return "done"
    finally:
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)
    return await _conclude(jobs, lease, run, latest, cancelled=cancelled)


async def _attend(
    jobs: Jobs,
    lease: Lease,
    run: asyncio.Future[Report],
    latest: list[Progress],
    renew_every: float,
) -> bool:
    """Renew the lease until the work ends; True if it was stopped on request."""
    while not run.done():
        await asyncio.wait([run], timeout=renew_every)
        if run.done():
            return False
        try:
            if await jobs.renew(lease, latest[-1] if latest else None):
                return True
        except StorageUnavailable as error:
            # The work may not need the database now; if it does, it fails by itself.
            _log.warning("job %s: %s", lease.job_id, error.message)
    return False


async def _conclude(
    jobs: Jobs,
    lease: Lease,
    run: asyncio.Future[Report],
    latest: list[Progress],
    *,
    cancelled: bool,
) -> Outcome:
    error = None if run.cancelled() else run.exception()
    try:
        if isinstance(error, LeaseLost):
            _log.warning("job %s was taken over by another worker", lease.job_id)
        elif isinstance(error, QuireError):
            again = isinstance(error, DependencyError)
            return "again" if await jobs.fail(lease, error.message, again=again) else "done"
        elif error is not None:
            _log.error("job %s failed", lease.job_id, exc_info=error)
            await jobs.fail(lease, f"unexpected {type(error).__name__}: {error}", again=False)
        elif cancelled or run.cancelled():
            await jobs.cancelled(lease)
        else:
            await jobs.finish(lease, run.result(), latest[-1] if latest else None)
    except LeaseLost:
        _log.warning("job %s was taken over by another worker", lease.job_id)
    return "done"


class JobRunner:
    """Runs jobs as tasks of this process, a few at a time; for the embedded stores.

    There is one such process per store, so jobs found active at the start are its own, from
    before a crash or a restart, and are taken up again at once.
    """

    def __init__(
        self,
        jobs: Jobs,
        work: Work,
        *,
        concurrency: int = 1,
        renew_every: float = 2.0,
        first_delay: float = 1.0,
    ) -> None:
        self._jobs = jobs
        self._work = work
        self._places = asyncio.Semaphore(concurrency)
        self._renew_every = renew_every
        self._first_delay = first_delay
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Take up what an earlier process left behind."""
        for job in reversed(await self._jobs.find(active=True, limit=1000)):
            self._launch(job.job_id, None)

    async def submit(
        self,
        book_id: str,
        *,
        root: str,
        mode: IngestionMode = "incremental",
        owner: str = "",
        idempotency_key: str | None = None,
        progress: ProgressCallback | None = None,
    ) -> IngestionJob:
        """Create a job (see `Jobs.create`) and set to work on it in the background."""
        job = await self._jobs.create(
            book_id, root=root, mode=mode, owner=owner, idempotency_key=idempotency_key
        )
        if job.is_active and job.job_id not in self._tasks:
            self._launch(job.job_id, progress)
        return job

    async def wait(self, job_id: int) -> IngestionJob:
        """The job once it has ended."""
        task = self._tasks.get(job_id)
        if task is not None:
            await asyncio.wait([task])
        return await self._jobs.get(job_id)

    async def cancel(self, job_id: int) -> IngestionJob:
        """Ask for a job to stop; it does so within a few seconds."""
        return await self._jobs.cancel(job_id)

    async def close(self) -> None:
        """Stop working; unfinished jobs go back into the queue."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _launch(self, job_id: int, progress: ProgressCallback | None) -> None:
        task = asyncio.create_task(self._run(job_id, progress), name=f"ingestion job {job_id}")
        self._tasks[job_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(job_id, None))

    async def _run(self, job_id: int, progress: ProgressCallback | None) -> None:
        delay = self._first_delay
        async with self._places:
            while await self._attempt(job_id, progress) == "again":
                await asyncio.sleep(delay)
                delay = min(2 * delay, 60.0)

    async def _attempt(self, job_id: int, progress: ProgressCallback | None) -> Outcome:
        try:
            return await attempt(
                self._jobs,
                job_id,
                self._work,
                abandoned=True,
                renew_every=self._renew_every,
                progress=progress,
            )
        except StorageUnavailable as error:
            _log.warning("job %s waits for the database: %s", job_id, error.message)
            return "again"
