"""Ingestion jobs and state."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from quire.api.schemas.fields import BookId, Request
from quire.ingestion.jobs import IngestionJob
from quire.ingestion.state import BookState


class IngestionRequest(Request):
    """A folder to ingest, below one of the configured roots; or a known book, from its folder."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"book_id": "physical-ai", "mode": "incremental"}]},
    )

    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="Left out: the folder the book was ingested from.",
    )
    book_id: BookId | None = None
    mode: Literal["incremental", "full", "recreate"] = "incremental"


class IngestionJobView(BaseModel):
    """One run of ingestion."""

    job_id: int
    book_id: str
    mode: Literal["incremental", "full", "recreate"]
    status: Literal["queued", "running", "completed", "failed", "cancelled"]
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
    duration_seconds: int | None
    error_message: str | None

    @classmethod
    def of(cls, job: IngestionJob) -> Self:
        """The wire form of a job."""
        return cls(**{name: getattr(job, name) for name in cls.model_fields})


class IngestionJobList(BaseModel):
    """Jobs, newest first."""

    jobs: list[IngestionJobView]


class IngestionRecordView(BaseModel):
    """What was last ingested from one source file."""

    source_file: str
    file_hash: str
    chunk_ids: list[str]
    chunk_count: int
    ingested_at: datetime
    book_id: str
    module: str
    chapter: int
    lesson: int


class IngestionStateView(BaseModel):
    """What the index holds of a book."""

    book_id: str
    collection_name: str
    records: dict[str, IngestionRecordView]
    last_full_ingest: datetime | None
    last_incremental_update: datetime | None
    total_chunks: int

    @classmethod
    def of(cls, state: BookState) -> Self:
        """The wire form of a book's state."""
        names = IngestionRecordView.model_fields
        return cls(
            book_id=state.book_id,
            collection_name=state.collection_name,
            records={
                file: IngestionRecordView(**{name: getattr(record, name) for name in names})
                for file, record in state.records.items()
            },
            last_full_ingest=state.last_full_ingest,
            last_incremental_update=state.last_incremental_update,
            total_chunks=state.total_chunks,
        )
