"""What an answer said beside its text, so that a conversation can be shown again as it was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from quire.database.columns import Json

revision = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    op.add_column("conversations", sa.Column("details", Json, nullable=False, server_default="{}"))


def downgrade() -> None:
    op.drop_column("conversations", "details")
