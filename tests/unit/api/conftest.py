from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.service import Service, open_service, settings_in, write_book


@pytest.fixture
async def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Service]:
    """One book, no keys."""
    book = write_book(tmp_path)
    async with open_service(settings_in(tmp_path), monkeypatch, book) as service:
        yield service


@pytest.fixture
async def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Service]:
    """Two books, keys needed."""
    books = [write_book(tmp_path, name) for name in ("rover", "lander")]
    settings = settings_in(tmp_path, auth="on", rate_limit=50, visitor_limit=5)
    async with open_service(settings, monkeypatch, *books) as service:
        yield service
