"""What a book says of itself, why an answer was refused, and one row of usage per answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quire.database.columns import Json, Real, UtcDateTime

revision = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    op.add_column("books", sa.Column("base_url", sa.Text(), nullable=True))
    op.add_column("books", sa.Column("details", Json, nullable=False, server_default="{}"))
    op.add_column("conversations", sa.Column("refusal_reason", sa.String(length=40), nullable=True))
    op.create_table(
        "usage",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("book_id", sa.String(length=200), nullable=False),
        sa.Column("key_id", sa.String(length=36), nullable=True),
        sa.Column("channel", sa.String(length=20), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("latency_ms", Real, nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_usage")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_usage_book_id_created_at", "usage", ["book_id", "created_at"])


def downgrade() -> None:
    op.drop_index("ix_usage_book_id_created_at", "usage")
    op.drop_table("usage")
    op.drop_column("conversations", "refusal_reason")
    op.drop_column("books", "details")
    op.drop_column("books", "base_url")
