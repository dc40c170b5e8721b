"""Books, pages, jobs, conversations, feedback and keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quire.database.columns import Json, Real, UtcDateTime

revision = "0001"
down_revision: str | None = None


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("prefix", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("scopes", Json, nullable=False),
        sa.Column("book_id", sa.String(length=200), nullable=True),
        sa.Column("origins", Json, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("revoked_at", UtcDateTime(), nullable=True),
        sa.Column("last_used_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_keys_digest")),
    )
    op.create_index("ix_api_keys_prefix", "api_keys", ["prefix"], unique=False)

    op.create_table(
        "books",
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("collection_name", sa.String(length=200), nullable=False),
        sa.Column("embedder", sa.String(length=200), nullable=False),
        sa.Column("writer", sa.String(length=64), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("last_full_ingest", UtcDateTime(), nullable=True),
        sa.Column("last_incremental_update", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_books")),
    )
    op.create_table(
        "conversation_threads",
        sa.Column("thread_id", sa.String(length=36), nullable=False),
        sa.Column("owner", sa.String(length=200), nullable=False),
        sa.Column("book_id", sa.String(length=200), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.Column("archived_at", UtcDateTime(), nullable=True),
        sa.Column("topic_summary", sa.Text(), nullable=True),
        sa.Column("metadata", Json, nullable=False),
        sa.PrimaryKeyConstraint("thread_id", name=op.f("pk_conversation_threads")),
    )
    op.create_index("idx_threads_updated", "conversation_threads", [sa.text("updated_at DESC")])
    op.create_index("idx_threads_created", "conversation_threads", [sa.text("created_at DESC")])
    op.create_index(
        "idx_threads_owner_book",
        "conversation_threads",
        ["owner", "book_id", sa.text("updated_at DESC")],
    )
    op.create_table(
        "ingestion_jobs",
        sa.Column("job_id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("book_id", sa.String(length=200), nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("mode", sa.String(length=20), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("owner", sa.String(length=200), nullable=False),
        sa.Column("idempotency_key", sa.String(length=255), nullable=True),
        sa.Column("files_discovered", sa.Integer(), nullable=False),
        sa.Column("files_processed", sa.Integer(), nullable=False),
        sa.Column("files_skipped", sa.Integer(), nullable=False),
        sa.Column("files_failed", sa.Integer(), nullable=False),
        sa.Column("chunks_created", sa.Integer(), nullable=False),
        sa.Column("chunks_deleted", sa.Integer(), nullable=False),
        sa.Column("embedded", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("progress", Json, nullable=False),
        sa.Column("errors", Json, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=True),
        sa.Column("completed_at", UtcDateTime(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.Column("lease_expires_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_ingestion_jobs")),
        sa.UniqueConstraint("owner", "idempotency_key", name=op.f("uq_ingestion_jobs_owner")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_ingestion_jobs_book_id_created_at",
        "ingestion_jobs",
        ["book_id", "created_at"],
        unique=False,
    )
    op.create_index(
        "uq_ingestion_jobs_active_book",
        "ingestion_jobs",
        ["book_id"],
        unique=True,
        sqlite_where=sa.text("status IN ('queued', 'running')"),
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )

    op.create_table(
        "conversations",
        sa.Column("id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("session_id", sa.String(length=36), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("response", sa.Text(), nullable=False),
        sa.Column("sources", Json, nullable=False),
        sa.Column("mode", sa.String(length=20), nullable=False),
        sa.Column("selected_text", sa.Text(), nullable=True),
        sa.Column("chunks_retrieved", sa.Integer(), nullable=False),
        sa.Column("latency_ms", Real, nullable=False),
        sa.Column("confidence", Real, nullable=True),
        sa.Column("trace_id", sa.String(length=64), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("completed_at", UtcDateTime(), nullable=True),
        sa.Column("lease_expires_at", UtcDateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["conversation_threads.thread_id"],
            name=op.f("fk_conversations_session_id_conversation_threads"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_conversations")),
        sa.UniqueConstraint("session_id", "sequence", name=op.f("uq_conversations_session_id")),
    )
    op.create_index(
        "idx_conversations_session_created",
        "conversations",
        ["session_id", sa.text("created_at DESC")],
    )
    op.create_index("idx_conversations_session_id", "conversations", ["session_id"], unique=False)

    op.create_table(
        "pages",
        sa.Column("book_id", sa.String(length=200), nullable=False),
        sa.Column("source_file", sa.Text(), nullable=False),
        sa.Column("file_hash", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("chunk_ids", Json, nullable=False),
        sa.Column("chunk_count", sa.Integer(), nullable=False),
        sa.Column("module", sa.Text(), nullable=False),
        sa.Column("chapter", sa.Integer(), nullable=False),
        sa.Column("lesson", sa.Integer(), nullable=False),
        sa.Column("identity", sa.String(length=16), nullable=False),
        sa.Column("settings_hash", sa.String(length=64), nullable=False),
        sa.Column("embedder", sa.String(length=200), nullable=False),
        sa.Column("ingested_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["book_id"], ["books.id"], name=op.f("fk_pages_book_id_books"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("book_id", "source_file", name=op.f("pk_pages")),
    )
    op.create_table(
        "feedback",
        sa.Column("exchange_id", sa.Uuid(as_uuid=False), nullable=False),
        sa.Column("rating", sa.Integer(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["exchange_id"],
            ["conversations.id"],
            name=op.f("fk_feedback_exchange_id_conversations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("exchange_id", name=op.f("pk_feedback")),
    )


def downgrade() -> None:
    op.drop_table("feedback")
    op.drop_table("pages")
    op.drop_table("conversations")
    op.drop_table("ingestion_jobs")
    op.drop_table("conversation_threads")
    op.drop_table("books")
    op.drop_table("api_keys")
