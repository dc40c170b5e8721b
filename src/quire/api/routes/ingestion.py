"""Ingestion over HTTP: jobs and state."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from quire.api.dependencies import LibraryDependency, OwnerDependency
from quire.api.errors import responses
from quire.api.schemas import (
    IngestionJobList,
    IngestionJobView,
    IngestionRequest,
    IngestionStateView,
)
from quire.models import JobStatus

router = APIRouter(prefix="/ingestion", tags=["ingestion"])

ERRORS = responses(403, 404, 409, 422, 500, 503)


@router.post("/jobs", status_code=202, responses=ERRORS)
async def create(
    body: IngestionRequest,
    library: LibraryDependency,
    owner: OwnerDependency,
    response: Response,
    idempotency_key: Annotated[str | None, Header(max_length=255)] = None,
) -> IngestionJobView:
    """Start a job; the same `Idempotency-Key` gives back the same job."""
    job = await library.submit(
        body.path,
        book_id=body.book_id,
        mode=body.mode,
        owner=owner,
        idempotency_key=idempotency_key,
    )
    response.headers["Location"] = f"/ingestion/jobs/{job.job_id}"
    return IngestionJobView.of(job)


@router.get("/jobs", responses=ERRORS)
async def jobs(
    library: LibraryDependency,
    book_id: Annotated[str | None, Query()] = None,
    status: Annotated[JobStatus | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> IngestionJobList:
    """Jobs, newest first."""
    found = await library.jobs.find(book_id=book_id, status=status, limit=limit)
    return IngestionJobList(jobs=[IngestionJobView.of(job) for job in found])


@router.get("/jobs/{job_id}", responses=ERRORS)
async def job(job_id: int, library: LibraryDependency) -> IngestionJobView:
    """One job with its progress."""
    return IngestionJobView.of(await library.jobs.get(job_id))


@router.delete("/jobs/{job_id}", status_code=202, responses=ERRORS)
async def cancel(job_id: int, library: LibraryDependency) -> IngestionJobView:
    """Ask a job to stop; what it has written stays and is consistent."""
    return IngestionJobView.of(await library.jobs.cancel(job_id))


@router.get("/state", responses=ERRORS)
async def state(
    library: LibraryDependency, book_id: Annotated[str | None, Query()] = None
) -> IngestionStateView:
    """What the index holds of a book, file by file."""
    return IngestionStateView.of(await library.book_state(book_id))
