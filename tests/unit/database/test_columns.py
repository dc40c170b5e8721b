from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy.dialects import postgresql, sqlite

from quire.database.columns import UtcDateTime

NOON = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize("dialect", [sqlite.dialect(), postgresql.dialect()])
def test_moments_come_back_in_utc(dialect):
    stored = UtcDateTime().process_bind_param(NOON, dialect)
    back = UtcDateTime().process_result_value(stored, dialect)
    assert back == NOON
    assert back is not None
    assert back.tzinfo is UTC


def test_a_moment_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="time zone"):
        UtcDateTime().process_bind_param(datetime(2026, 1, 1), sqlite.dialect())
