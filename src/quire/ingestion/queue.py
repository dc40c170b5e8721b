"""Jobs for many workers: Procrastinate on PostgreSQL brings a job to whoever is free.

Procrastinate says *when* to look at a job; the lease in our own table says *who* may work on
it. So a message that is lost, doubled or late does no harm: every worker also looks for jobs
that are waiting or whose worker has gone silent, and announces them again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sqlalchemy import text

from quire.database import Database
from quire.errors import ConfigurationError, MissingExtra, StorageUnavailable
from quire.ingestion.jobs import IngestionJob, Jobs
from quire.ingestion.runner import Work, attempt
from quire.models import IngestionMode

if TYPE_CHECKING:
    from procrastinate import App

QUEUE = "ingestion"
HEARTBEAT_S = 5.0
STALLED_S = 15.0
"""A worker without a heartbeat for so long counts as dead."""
LOOK_EVERY_S = 3.0
"""How often a worker looks for jobs that nobody works on."""

_TASK = "quire.ingest"
_LOCK = 0x5155_4555  # "QUEU"
_LONGEST_DELAY_S = 60  # between two attempts

_log = logging.getLogger(__name__)


class JobQueue:
    """Announces jobs and works on them; open it before use."""

    def __init__(
        self,
        database: Database,
        jobs: Jobs,
        *,
        heartbeat: float = HEARTBEAT_S,
        stalled_after: float = STALLED_S,
        look_every: float = LOOK_EVERY_S,
    ) -> None:
        """Raises `MissingExtra` without the `postgres` extra; needs a PostgreSQL database."""
        if database.dialect != "postgresql":
            raise ConfigurationError("workers need PostgreSQL: set DATABASE_URL=postgresql://…")
        self._database = database
        self._jobs = jobs
        self._app = _create_app(database.libpq_url)
        self._app.task(name=_TASK, queue=QUEUE)(self._ingest)
        self._work: Work | None = None
        self._heartbeat = heartbeat
        self._stalled_after = stalled_after
        self._look_every = look_every

    async def open(self) -> None:
        """Connect, and create Procrastinate's tables if they aren't there."""
        async with _translated():
            await self._app.open_async()
            async with self._database.transaction() as session:
                await self._database.lock(session, _LOCK)
                found = await session.scalar(text("SELECT to_regclass('procrastinate_jobs')"))
                if found is None:
                    await self._app.schema_manager.apply_schema_async()

    async def close(self) -> None:
        """Disconnect."""
        await self._app.close_async()

    async def submit(
        self,
        book_id: str,
        *,
        root: str,
        mode: IngestionMode = "incremental",
        owner: str = "",
        idempotency_key: str | None = None,
    ) -> IngestionJob:
        """Create a job (see `Jobs.create`) and announce it to the workers."""
        job = await self._jobs.create(
            book_id, root=root, mode=mode, owner=owner, idempotency_key=idempotency_key
        )
        if job.status == "queued":
            await self._announce(job.job_id)
        return job

    async def cancel(self, job_id: int) -> IngestionJob:
        """Ask for a job to stop; its worker notices at the next renewal of its lease."""
        return await self._jobs.cancel(job_id)

    async def work(self, work: Work, *, concurrency: int = 1) -> None:
        """Take jobs until cancelled; unfinished ones go back to the queue then.

        Outlives a database that is away for a while.
        """
        self._work = work
        look = asyncio.create_task(self._look_for_jobs(), name="look for jobs")
        try:
            while True:
                await self._serve(concurrency)
                await asyncio.sleep(self._look_every)
        finally:
            look.cancel()
            await asyncio.gather(look, return_exceptions=True)

    async def _serve(self, concurrency: int) -> None:
        """Run Procrastinate's worker; it returns when the database has gone away."""
        try:
            async with _translated():
                await self._app.run_worker_async(
                    queues=[QUEUE],
                    concurrency=concurrency,
                    fetch_job_polling_interval=self._look_every,
                    update_heartbeat_interval=self._heartbeat,
                    stalled_worker_timeout=self._stalled_after,
                    shutdown_graceful_timeout=1.0,
                    delete_jobs="always",
                    install_signal_handlers=False,
                )
        except StorageUnavailable as error:
            _log.warning("the worker waits: %s", error.message)

    async def _ingest(self, job_id: int) -> None:
        """What Procrastinate calls when a message about a job arrives."""
        if self._work is None:
            return
        if await attempt(self._jobs, job_id, self._work) == "again":
            attempts = (await self._jobs.get(job_id)).attempts
            await self._announce(job_id, delay=min(2**attempts, _LONGEST_DELAY_S))

    async def _look_for_jobs(self) -> None:
        """Announce what nobody works on: lost messages, dead workers."""
        while True:
            await asyncio.sleep(self._look_every)
            try:
                await self._discard_stalled()
                for job_id in await self._jobs.unclaimed():
                    await self._announce(job_id)
            except StorageUnavailable as error:
                _log.warning("can't look for jobs: %s", error.message)

    async def _discard_stalled(self) -> None:
        """Drop the messages dead workers were busy with; their jobs are announced anew."""
        from procrastinate.exceptions import ConnectorException
        from procrastinate.jobs import Status

        manager = self._app.job_manager
        async with _translated():
            stalled = await manager.get_stalled_jobs(
                queue=QUEUE, seconds_since_heartbeat=self._stalled_after
            )
        for message in stalled:
            try:
                await manager.finish_job(message, Status.FAILED, delete_job=True)
            except ConnectorException:
                _log.debug("another worker has discarded %s already", message.id)

    async def _announce(self, job_id: int, *, delay: int = 0) -> None:
        """Tell the workers about a job, unless a message about it is waiting already."""
        from procrastinate.exceptions import AlreadyEnqueued

        message = self._app.configure_task(
            _TASK,
            allow_unknown=False,
            queue=QUEUE,
            queueing_lock=f"job {job_id}",
            schedule_in={"seconds": delay} if delay else None,
        )
        async with _translated():
            try:
                await message.defer_async(job_id=job_id)
            except AlreadyEnqueued:
                return


def _create_app(url: str) -> App:
    try:
        from procrastinate import App, PsycopgConnector
    except ModuleNotFoundError as error:
        raise MissingExtra("the job queue", "postgres") from error
    return App(connector=PsycopgConnector(conninfo=url, min_size=1, max_size=4, timeout=10.0))


@asynccontextmanager
async def _translated() -> AsyncGenerator[None]:
    from procrastinate.exceptions import ConnectorException

    try:
        yield
    except ConnectorException as error:
        reason = str(error.__cause__ or error).partition("\n")[0]
        raise StorageUnavailable(f"the job queue doesn't answer: {reason}") from error
