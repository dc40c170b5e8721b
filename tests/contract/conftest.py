"""Stops the PostgreSQL server of these tests when the session ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import stop_server


@pytest.fixture(scope="session", autouse=True)
def _postgres_ends_with_the_session() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    yield
    stop_server()
