"""Ingestion jobs: asked for, claimed under a lease, followed and finished, all in the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from quire.database import Database
from quire.database.tables import JobRow
from quire.errors import Conflict, NotFound
from quire.ingestion.progress import Progress, Report
from quire.ingestion.state import Guard, LeaseLost
from quire.models import IngestionMode, JobStatus, utc_now

MAX_ATTEMPTS = 5
LEASE = timedelta(seconds=15)
"""How long a worker may be silent before another one takes its job."""

_ACTIVE = ("queued", "running")
_LOCK = 0x4A4F_4253  # "JOBS"


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionJob:
    """One run of ingestion: what was asked for, how far it came, how it ended."""

    job_id: int
    book_id: str
    root: str
    mode: IngestionMode
    status: JobStatus
    owner: str
    files_discovered: int
    files_processed: int
    files_skipped: int
    files_failed: int
    chunks_created: int
    chunks_deleted: int
    embedded: int
    tokens: int
    progress: dict[str, Any]
    errors: list[dict[str, Any]]
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    error_message: str | None
    cancel_requested: bool
    attempts: int

    @property
    def is_active(self) -> bool:
        """Waiting or being worked on."""
        return self.status in _ACTIVE

    @property
    def duration_seconds(self) -> int | None:
        """From start to end, in whole seconds; None unless both are known."""
        if self.started_at is None or self.completed_at is None:
            return None
        return round((self.completed_at - self.started_at).total_seconds())


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on a job. A later claim has a higher fence and ends this one."""

    job_id: int
    fence: int


class Jobs:
    """The store of jobs. At most one is active per book, and none beside a `recreate`."""

    def __init__(self, database: Database, *, lease: timedelta = LEASE) -> None:
        self._database = database
        self.lease = lease

    async def create(
        self,
        book_id: str,
        *,
        root: str,
        mode: IngestionMode = "incremental",
        owner: str = "",
        idempotency_key: str | None = None,
    ) -> IngestionJob:
        """Queue a job; the same owner and key give back the job they created before.

        Raises `Conflict` (with the active job's id) when the book has an active job, when a
        `recreate` is active, or when this is one and any job is active: it replaces the
        whole collection.
        """
        async with self._database.transaction() as session:
            await self._database.lock(session, _LOCK)
            if idempotency_key is not None:
                known = await session.scalar(
                    select(JobRow).where(
                        JobRow.owner == owner, JobRow.idempotency_key == idempotency_key
                    )
                )
                if known is not None:
                    return _job(known)
            active = list(await session.scalars(select(JobRow).where(JobRow.status.in_(_ACTIVE))))
            _refuse_beside(active, book_id, mode)
            row = JobRow(
                book_id=book_id,
                root=root,
                mode=mode,
                status="queued",
                owner=owner,
                idempotency_key=idempotency_key,
                progress={},
                errors=[],
                created_at=utc_now(),
            )
            session.add(row)
            await session.flush()
            return _job(row)

    async def get(self, job_id: int) -> IngestionJob:
        """The job, or `NotFound`."""
        async with self._database.transaction(read_only=True) as session:
            return _job(await _row(session, job_id))

    async def find(
        self,
        *,
        book_id: str | None = None,
        status: JobStatus | None = None,
        active: bool = False,
        limit: int = 50,
    ) -> list[IngestionJob]:
        """Jobs, newest first."""
        query = select(JobRow).order_by(JobRow.job_id.desc()).limit(limit)
        if book_id is not None:
            query = query.where(JobRow.book_id == book_id)
        if status is not None:
            query = query.where(JobRow.status == status)
        if active:
            query = query.where(JobRow.status.in_(_ACTIVE))
        async with self._database.transaction(read_only=True) as session:
            return [_job(row) for row in await session.scalars(query)]

    async def unclaimed(self) -> list[int]:
        """Ids of the jobs that could be claimed now: queued, or left by a worker that is silent."""
        async with self._database.transaction(read_only=True) as session:
            query = select(JobRow.job_id).where(_is_free(utc_now())).order_by(JobRow.job_id)
            return list(await session.scalars(query))

    async def claim(self, job_id: int, *, abandoned: bool = False) -> Lease | None:
        """Take a job that is queued or whose lease ran out; None if there is nothing to take.

        `abandoned`: its worker is known to be gone, don't wait for the lease. Counts an
        attempt; the attempt after the last ends the job as failed instead.
        """
        now = utc_now()
        free = JobRow.status.in_(_ACTIVE) if abandoned else _is_free(now)
        async with self._database.transaction() as session:
            row = await session.scalar(
                select(JobRow).where(JobRow.job_id == job_id, free).with_for_update()
            )
            if row is None:
                return None
            row.fence += 1
            if row.cancel_requested:
                _close(row, "cancelled", None)
                return None
            if row.attempts >= MAX_ATTEMPTS:
                reason = row.error_message or "its worker died"
                _close(row, "failed", f"gave up after {row.attempts} attempts: {reason}")
                return None
            row.status = "running"
            row.attempts += 1
            row.started_at = row.started_at or now
            row.lease_expires_at = now + self.lease
            return Lease(job_id, row.fence)

    async def renew(self, lease: Lease, progress: Progress | None = None) -> bool:
        """Prolong the lease and store progress; returns whether cancelling was asked for.

        Raises `LeaseLost` when another worker has the job.
        """
        values: dict[str, Any] = {"lease_expires_at": utc_now() + self.lease}
        if progress is not None:
            values["progress"] = progress.as_json()
        async with self._database.transaction() as session:
            wanted = await session.scalar(
                update(JobRow)
                .where(*_held(lease))
                .values(**values)
                .returning(JobRow.cancel_requested)
            )
        if wanted is None:
            raise LeaseLost(f"job {lease.job_id} was taken over by another worker")
        return wanted

    def guard(self, lease: Lease) -> Guard:
        """Makes a recording transaction fail with `LeaseLost` unless the lease is still held.

        The job's row stays locked until that transaction ends, so no claim can slip in between.
        """

        async def check(session: AsyncSession) -> None:
            expires = utc_now() + self.lease
            held = await session.scalar(
                update(JobRow)
                .where(*_held(lease))
                .values(lease_expires_at=expires)
                .returning(JobRow.job_id)
            )
            if held is None:
                raise LeaseLost(f"job {lease.job_id} was taken over by another worker")

        return check

    async def finish(self, lease: Lease, report: Report, progress: Progress | None = None) -> None:
        """Close the job as completed, with its figures; files that failed are listed in it."""
        async with self._database.transaction() as session:
            row = await _held_row(session, lease)
            for name in _FIGURES:
                setattr(row, name, getattr(report, name))
            row.errors = [error.as_json() for error in report.errors]
            if progress is not None:
                row.progress = progress.as_json()
            _close(row, "completed", None)

    async def fail(self, lease: Lease, reason: str, *, again: bool) -> bool:
        """Note why an attempt failed; True if the job is queued for another one (`again`)."""
        async with self._database.transaction() as session:
            row = await _held_row(session, lease)
            if again and row.attempts < MAX_ATTEMPTS and not row.cancel_requested:
                row.status, row.error_message = "queued", reason
                return True
            if again:
                reason = f"gave up after {row.attempts} attempts: {reason}"
            _close(row, "cancelled" if row.cancel_requested else "failed", reason)
            return False

    async def release(self, lease: Lease) -> None:
        """Put the job back into the queue; this attempt does not count (a worker shuts down)."""
        async with self._database.transaction() as session:
            row = await _held_row(session, lease)
            row.status, row.attempts, row.lease_expires_at = "queued", row.attempts - 1, None

    async def cancelled(self, lease: Lease) -> None:
        """Close the job as cancelled; what was recorded so far stays."""
        async with self._database.transaction() as session:
            _close(await _held_row(session, lease), "cancelled", None)

    async def cancel(self, job_id: int) -> IngestionJob:
        """Ask for a job to stop: at once when it is queued, at its next renewal when it runs.

        A job that has ended stays as it is.
        """
        async with self._database.transaction() as session:
            row = await _row(session, job_id, lock=True)
            if row.status in _ACTIVE:
                row.cancel_requested = True
            if row.status == "queued":
                row.fence += 1
                _close(row, "cancelled", None)
            return _job(row)


_FIGURES = (
    "files_discovered",
    "files_processed",
    "files_skipped",
    "files_failed",
    "chunks_created",
    "chunks_deleted",
    "embedded",
    "tokens",
)


def _refuse_beside(active: Sequence[JobRow], book_id: str, mode: IngestionMode) -> None:
    for job in active:
        details = {"job_id": job.job_id, "book_id": job.book_id}
        if job.book_id == book_id:
            raise Conflict(f"job {job.job_id} is at work on '{book_id}'", details=details)
        if "recreate" in (mode, job.mode):
            raise Conflict(
                f"job {job.job_id} ({job.mode} of '{job.book_id}') is active, and recreate "
                "replaces the whole collection; try again when it has ended",
                details=details,
            )


def _is_free(now: datetime) -> ColumnElement[bool]:
    silent = (JobRow.status == "running") & (JobRow.lease_expires_at < now)
    return (JobRow.status == "queued") | silent


def _held(lease: Lease) -> tuple[ColumnElement[bool], ...]:
    return (
        JobRow.job_id == lease.job_id,
        JobRow.fence == lease.fence,
        JobRow.status == "running",
    )


async def _held_row(session: AsyncSession, lease: Lease) -> JobRow:
    row = await session.scalar(select(JobRow).where(*_held(lease)).with_for_update())
    if row is None:
        raise LeaseLost(f"job {lease.job_id} was taken over by another worker")
    return row


async def _row(session: AsyncSession, job_id: int, *, lock: bool = False) -> JobRow:
    query = select(JobRow).where(JobRow.job_id == job_id)
    row = await session.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise NotFound(f"there is no job {job_id}", details={"job_id": job_id})
    return row


def _close(row: JobRow, status: JobStatus, reason: str | None) -> None:
    row.status = status
    row.error_message = reason
    row.completed_at = utc_now()
    row.lease_expires_at = None


def _job(row: JobRow) -> IngestionJob:
    return IngestionJob(**{name: getattr(row, name) for name in IngestionJob.__slots__})
