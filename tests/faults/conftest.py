"""Stops the PostgreSQL server of these tests when the session ends."""

from tests.integration.ingestion.conftest import (
    _postgres_ends_with_the_session,  # noqa: F401  # pyright: ignore[reportPrivateUsage, reportUnusedImport]
)
