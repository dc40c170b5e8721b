"""Database URLs as people write them, turned into what the drivers accept."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from quire.errors import InvalidSetting

_POSTGRES = {"postgres", "postgresql", "postgresql+asyncpg", "postgresql+psycopg"}
_SQLITE = {"sqlite", "sqlite+aiosqlite"}
# libpq options that asyncpg spells differently, or has no word for
_RENAMED = {"sslmode": "ssl"}
_DROPPED = {"channel_binding", "gssencmode"}


def parse_url(text: str) -> URL:
    """The URL with its asynchronous driver; `InvalidSetting` (without the password) if unusable."""
    try:
        url = make_url(text)
    except ArgumentError:
        raise InvalidSetting("DATABASE_URL is not a URL such as sqlite:///path/quire.db") from None
    if url.drivername in _SQLITE:
        if not url.database or url.database == ":memory:":
            raise InvalidSetting("DATABASE_URL: SQLite needs a file, as in sqlite:///path/quire.db")
        return url.set(drivername="sqlite+aiosqlite")
    if url.drivername in _POSTGRES:
        query = {_RENAMED.get(k, k): v for k, v in url.query.items() if k not in _DROPPED}
        return url.set(drivername="postgresql+asyncpg", query=query)
    raise InvalidSetting(
        f"DATABASE_URL: '{url.drivername}' is not supported; use sqlite:///… or postgresql://…"
    )


def libpq_url(text: str) -> str:
    """The same PostgreSQL server as psycopg wants it named."""
    return make_url(text).set(drivername="postgresql").render_as_string(hide_password=False)


def sqlite_path(url: URL) -> Path:
    """The file behind a SQLite URL."""
    return Path(url.database or "")
