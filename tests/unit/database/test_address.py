from __future__ import annotations

import pytest

from quire.database.address import parse_url
from quire.errors import InvalidSetting


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
def test_the_usual_spellings_of_postgresql_are_understood(scheme: str):
    url = parse_url(f"{scheme}://user:secret@host:5432/db?sslmode=require&channel_binding=require")
    assert url.drivername == "postgresql+asyncpg"
    assert dict(url.query) == {"ssl": "require"}


def test_sqlite_gets_its_asynchronous_driver():
    assert parse_url("sqlite:////data/quire.db").drivername == "sqlite+aiosqlite"


@pytest.mark.parametrize(
    "text", ["", "nonsense", "mysql://host/db", "sqlite://", "sqlite:///:memory:"]
)
def test_what_cannot_be_used_is_refused_by_name(text: str):
    with pytest.raises(InvalidSetting, match="DATABASE_URL"):
        parse_url(text)


def test_a_refusal_does_not_show_the_password():
    with pytest.raises(InvalidSetting) as refused:
        parse_url("mysql://user:hunter2@host/db")
    assert "hunter2" not in str(refused.value)
