"""The tables, one class each; a row class never leaves the store that reads it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from quire.database.columns import Json, Real, UtcDateTime


class Base(DeclarativeBase):
    """Holds the metadata that migrations are compared with."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: UtcDateTime(),
        float: Real,
        dict[str, Any]: Json,
        list[str]: Json,
        list[dict[str, Any]]: Json,
        str: Text,
    }


class BookRow(Base):
    """A book that was ingested once, and where its pages lie."""

    __tablename__ = "books"

    id: Mapped[str] = mapped_column(String(200), primary_key=True)
    title: Mapped[str]
    root: Mapped[str]
    collection_name: Mapped[str] = mapped_column(String(200))
    embedder: Mapped[str] = mapped_column(String(200))
    writer: Mapped[str | None] = mapped_column(String(64))
    """The run that is writing to the index, or that died doing so; NULL when all is settled."""
    created_at: Mapped[datetime]
    last_full_ingest: Mapped[datetime | None]
    last_incremental_update: Mapped[datetime | None]
    base_url: Mapped[str | None]
    details: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    """What `quire.toml` declares for readers: the taxonomy and example questions."""


class PageRow(Base):
    """What was last ingested from a source file."""

    __tablename__ = "pages"

    book_id: Mapped[str] = mapped_column(
        ForeignKey("books.id", ondelete="CASCADE"), primary_key=True
    )
    source_file: Mapped[str] = mapped_column(primary_key=True)
    file_hash: Mapped[str] = mapped_column(String(64))
    size: Mapped[int] = mapped_column(BigInteger)
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    """0 when the file changed too shortly before it was read for its time to prove anything."""
    chunk_ids: Mapped[list[str]]
    chunk_count: Mapped[int]
    module: Mapped[str]
    chapter: Mapped[int]
    lesson: Mapped[int]
    identity: Mapped[str] = mapped_column(String(16))
    settings_hash: Mapped[str] = mapped_column(String(64))
    embedder: Mapped[str] = mapped_column(String(200))
    ingested_at: Mapped[datetime]


class JobRow(Base):
    """An ingestion job with its lease."""

    __tablename__ = "ingestion_jobs"
    __table_args__ = (
        Index(
            "uq_ingestion_jobs_active_book",
            "book_id",
            unique=True,
            sqlite_where=text("status IN ('queued', 'running')"),
            postgresql_where=text("status IN ('queued', 'running')"),
        ),
        Index("ix_ingestion_jobs_book_id_created_at", "book_id", "created_at"),
        UniqueConstraint("owner", "idempotency_key"),
        {"sqlite_autoincrement": True},
    )

    job_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    book_id: Mapped[str] = mapped_column(String(200))
    root: Mapped[str]
    mode: Mapped[str] = mapped_column(String(20))
    status: Mapped[str] = mapped_column(String(20))
    owner: Mapped[str] = mapped_column(String(200), default="")
    idempotency_key: Mapped[str | None] = mapped_column(String(255))
    files_discovered: Mapped[int] = mapped_column(default=0)
    files_processed: Mapped[int] = mapped_column(default=0)
    files_skipped: Mapped[int] = mapped_column(default=0)
    files_failed: Mapped[int] = mapped_column(default=0)
    chunks_created: Mapped[int] = mapped_column(default=0)
    chunks_deleted: Mapped[int] = mapped_column(default=0)
    embedded: Mapped[int] = mapped_column(default=0)
    tokens: Mapped[int] = mapped_column(default=0)
    progress: Mapped[dict[str, Any]]
    errors: Mapped[list[dict[str, Any]]]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    error_message: Mapped[str | None]
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    attempts: Mapped[int] = mapped_column(default=0)
    fence: Mapped[int] = mapped_column(default=0)
    """Counts claims; work recorded under an older value is refused."""
    lease_expires_at: Mapped[datetime | None]


class ThreadRow(Base):
    """A conversation; its messages are the exchanges."""

    __tablename__ = "conversation_threads"
    __table_args__ = (
        Index("idx_threads_updated", text("updated_at DESC")),
        Index("idx_threads_created", text("created_at DESC")),
        Index("idx_threads_owner_book", "owner", "book_id", text("updated_at DESC")),
    )

    thread_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    owner: Mapped[str] = mapped_column(String(200))
    book_id: Mapped[str] = mapped_column(String(200))
    title: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    archived_at: Mapped[datetime | None]
    topic_summary: Mapped[str | None]
    details: Mapped[dict[str, Any]] = mapped_column("metadata", key="details")


class ExchangeRow(Base):
    """A question and its answer."""

    __tablename__ = "conversations"
    __table_args__ = (
        Index("idx_conversations_session_id", "session_id"),
        Index("idx_conversations_session_created", "session_id", text("created_at DESC")),
        UniqueConstraint("session_id", "sequence"),
    )

    id: Mapped[str] = mapped_column(Uuid(as_uuid=False), primary_key=True)
    session_id: Mapped[str] = mapped_column(
        String(36), ForeignKey("conversation_threads.thread_id", ondelete="CASCADE")
    )
    sequence: Mapped[int]
    status: Mapped[str] = mapped_column(String(20))
    query: Mapped[str]
    response: Mapped[str]
    sources: Mapped[list[dict[str, Any]]]
    mode: Mapped[str] = mapped_column(String(20))
    selected_text: Mapped[str | None]
    chunks_retrieved: Mapped[int]
    latency_ms: Mapped[float]
    confidence: Mapped[float | None]
    trace_id: Mapped[str | None] = mapped_column(String(64))
    refusal_reason: Mapped[str | None] = mapped_column(String(40))
    details: Mapped[dict[str, Any]] = mapped_column(server_default=text("'{}'"))
    """What else the answer said, so that it can be shown again as it was."""
    created_at: Mapped[datetime]
    completed_at: Mapped[datetime | None]
    lease_expires_at: Mapped[datetime | None]
    """Until when an `in_progress` turn holds its session."""


class FeedbackRow(Base):
    """What a reader thought of one answer; a second opinion replaces the first."""

    __tablename__ = "feedback"

    exchange_id: Mapped[str] = mapped_column(
        Uuid(as_uuid=False),
        ForeignKey("conversations.id", ondelete="CASCADE"),
        primary_key=True,
    )
    rating: Mapped[int]
    comment: Mapped[str | None]
    created_at: Mapped[datetime]


class UsageRow(Base):
    """One answer, without its question: when, for which key, how it ended, what it cost."""

    __tablename__ = "usage"
    __table_args__ = (
        Index("ix_usage_book_id_created_at", "book_id", "created_at"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    created_at: Mapped[datetime]
    book_id: Mapped[str] = mapped_column(String(200))
    key_id: Mapped[str | None] = mapped_column(String(36))
    channel: Mapped[str] = mapped_column(String(20))
    outcome: Mapped[str] = mapped_column(String(20))
    latency_ms: Mapped[float]
    tokens: Mapped[int]


class ApiKeyRow(Base):
    """A key's digest and what it may do; the key itself is never stored."""

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    prefix: Mapped[str] = mapped_column(String(32), index=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    scopes: Mapped[list[str]]
    book_id: Mapped[str | None] = mapped_column(String(200))
    origins: Mapped[list[str]]
    created_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
