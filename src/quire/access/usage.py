"""What was asked of each book, day by day, without the questions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from sqlalchemy import delete, func, select

from quire.database import Database
from quire.database.tables import UsageRow
from quire.models import utc_now

Outcome = Literal["answered", "refused", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One answer."""

    created_at: datetime
    book_id: str
    key_id: str | None
    channel: str
    outcome: Outcome
    latency_ms: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageDay:
    """One day of one book."""

    date: date
    questions: int
    answered: int
    refused: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """All answers of a book."""

    questions: int = 0
    answered: int = 0
    refused: int = 0


class Usage:
    """One row per answer; nothing in it says who asked what."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, entries: Sequence[Entry]) -> None:
        """Count these answers."""
        async with self._database.transaction() as session:
            session.add_all(UsageRow(**asdict(entry)) for entry in entries)

    async def days(self, book_id: str, *, days: int = 30) -> list[UsageDay]:
        """The last days on which something was asked, oldest first."""
        since = utc_now() - timedelta(days=days)
        query = (
            select(UsageRow)
            .where(UsageRow.book_id == book_id, UsageRow.created_at >= since)
            .order_by(UsageRow.created_at)
        )
        by_day: defaultdict[date, list[UsageRow]] = defaultdict(list)
        async with self._database.transaction(read_only=True) as session:
            for row in await session.scalars(query):
                by_day[row.created_at.date()].append(row)
        return [_day(day, rows) for day, rows in sorted(by_day.items())]

    async def totals(self, book_id: str | None = None) -> Totals:
        """How often each book was asked, and how that ended."""
        query = select(UsageRow.outcome, func.count()).group_by(UsageRow.outcome)
        if book_id is not None:
            query = query.where(UsageRow.book_id == book_id)
        async with self._database.transaction(read_only=True) as session:
            counts = {row[0]: row[1] for row in await session.execute(query)}
        return Totals(
            questions=sum(counts.values()),
            answered=counts.get("answered", 0),
            refused=counts.get("refused", 0),
        )

    async def forget(self, before: datetime) -> None:
        """Drop what is older."""
        async with self._database.transaction() as session:
            await session.execute(delete(UsageRow).where(UsageRow.created_at < before))


def _day(day: date, rows: list[UsageRow]) -> UsageDay:
    times = sorted(row.latency_ms for row in rows if row.outcome != "error")
    return UsageDay(
        date=day,
        questions=len(rows),
        answered=sum(row.outcome == "answered" for row in rows),
        refused=sum(row.outcome == "refused" for row in rows),
        errors=sum(row.outcome == "error" for row in rows),
        p50_ms=_quantile(times, 0.5),
        p95_ms=_quantile(times, 0.95),
        tokens=sum(row.tokens for row in rows),
    )


def _quantile(ordered: list[float], share: float) -> float | None:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else None
