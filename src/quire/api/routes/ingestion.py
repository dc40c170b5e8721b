"""Ingestion over HTTP: jobs and state."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response

from quire.access import Caller
from quire.api.dependencies import IngestCaller, LibraryDependency
from quire.api.errors import GUARDED, responses
from quire.api.schemas.ingestion import (
    IngestionJobList,
    IngestionJobView,
    IngestionRequest,
    IngestionStateView,
)
from quire.errors import NotFound
from quire.ingestion.jobs import IngestionJob
from quire.models import JobStatus
from quire.wiring import Library

router = APIRouter(prefix="/ingestion", tags=["ingestion"])

CREATED = responses(*GUARDED, 404, 409, 413, 422)
READ = responses(*GUARDED, 404, 422)
JobPath = Annotated[int, Path(ge=1, le=2**31 - 1)]
BookQuery = Annotated[str | None, Query(max_length=200)]


@router.post("/jobs", status_code=202, responses=CREATED)
async def create(
    body: IngestionRequest,
    library: LibraryDependency,
    caller: IngestCaller,
    response: Response,
    idempotency_key: Annotated[str | None, Header(max_length=255)] = None,
) -> IngestionJobView:
    """Start a job; the same `Idempotency-Key` gives back the same job."""
    job = await library.submit(
        body.path,
        book_id=caller.book(body.book_id),
        mode=body.mode,
        owner=caller.owner,
        idempotency_key=idempotency_key,
        own_pages_only=caller.book(None) is not None,
    )
    response.headers["Location"] = f"/ingestion/jobs/{job.job_id}"
    return IngestionJobView.of(job)


@router.get("/jobs", responses=READ)
async def jobs(
    library: LibraryDependency,
    caller: IngestCaller,
    book_id: BookQuery = None,
    status: Annotated[JobStatus | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> IngestionJobList:
    """Jobs, newest first."""
    found = await library.jobs.find(book_id=caller.book(book_id), status=status, limit=limit)
    return IngestionJobList(jobs=[IngestionJobView.of(job) for job in found])


@router.get("/jobs/{job_id}", responses=READ)
async def job(
    job_id: JobPath, library: LibraryDependency, caller: IngestCaller
) -> IngestionJobView:
    """One job with its progress."""
    return IngestionJobView.of(await seen(library, caller, job_id))


@router.delete("/jobs/{job_id}", status_code=202, responses=READ)
async def cancel(
    job_id: JobPath, library: LibraryDependency, caller: IngestCaller
) -> IngestionJobView:
    """Ask a job to stop; what it has written stays and is consistent."""
    await seen(library, caller, job_id)
    return IngestionJobView.of(await library.jobs.cancel(job_id))


@router.get("/state", responses=READ)
async def state(
    library: LibraryDependency, caller: IngestCaller, book_id: BookQuery = None
) -> IngestionStateView:
    """What the index holds of a book, file by file."""
    return IngestionStateView.of(await library.book_state(caller.book(book_id)))


async def seen(library: Library, caller: Caller, job_id: int) -> IngestionJob:
    """The job, if its book exists for the caller."""
    found = await library.jobs.get(job_id)
    if not caller.sees(found.book_id):
        raise NotFound(f"there is no job {job_id}", details={"job_id": job_id})
    return found
