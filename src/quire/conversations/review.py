"""What authors may learn from conversations: what the book doesn't say, and what it says badly."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, or_, select

from quire.database import Database
from quire.database.tables import ExchangeRow, FeedbackRow, ThreadRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question that readers asked, and how its answer was."""

    question: str
    asked_at: datetime
    confidence: float | None
    rating: int | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Conversations and ratings of a book."""

    sessions: int
    rated_up: int
    rated_down: int


class Review:
    """Reads across owners, so it is for the book's author alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def unanswered(self, book_id: str, *, limit: int) -> list[Asked]:
        """The last questions the book was asked and doesn't answer, newest first."""
        query = (
            select(ExchangeRow)
            .join(ThreadRow, ThreadRow.thread_id == ExchangeRow.session_id)
            .where(
                ThreadRow.book_id == book_id,
                ExchangeRow.status == "complete",
                ExchangeRow.mode == "general",
                ExchangeRow.refusal_reason.is_not(None),
                ExchangeRow.refusal_reason != "unsafe_request",
            )
            .order_by(ExchangeRow.created_at.desc())
            .limit(limit)
        )
        async with self._database.transaction(read_only=True) as session:
            return [
                Asked(question=row.query, asked_at=row.created_at, confidence=row.confidence)
                for row in await session.scalars(query)
            ]

    async def weak(self, book_id: str, *, below: float, limit: int) -> list[Asked]:
        """The last answers readers disliked or we had little confidence in, newest first."""
        doubtful = (
            ExchangeRow.refusal_reason.is_(None)
            & (ExchangeRow.confidence < below)
            & (ExchangeRow.chunks_retrieved > 0)  # a greeting is no answer
        )
        query = (
            select(ExchangeRow, FeedbackRow.rating, FeedbackRow.comment)
            .join(ThreadRow, ThreadRow.thread_id == ExchangeRow.session_id)
            .outerjoin(FeedbackRow, FeedbackRow.exchange_id == ExchangeRow.id)
            .where(
                ThreadRow.book_id == book_id,
                ExchangeRow.status == "complete",
                or_(doubtful, FeedbackRow.rating < 0),
            )
            .order_by(ExchangeRow.created_at.desc())
            .limit(limit)
        )
        async with self._database.transaction(read_only=True) as session:
            return [
                Asked(
                    question=row.query,
                    asked_at=row.created_at,
                    confidence=row.confidence,
                    rating=rating,
                    comment=comment,
                )
                for row, rating, comment in await session.execute(query)
            ]

    async def figures(self, book_id: str | None = None) -> Figures:
        """How many conversations and ratings there are, of one book or of all."""
        threads = select(func.count()).select_from(ThreadRow)
        ratings = (
            select(FeedbackRow.rating, func.count())
            .join(ExchangeRow, ExchangeRow.id == FeedbackRow.exchange_id)
            .join(ThreadRow, ThreadRow.thread_id == ExchangeRow.session_id)
            .group_by(FeedbackRow.rating)
        )
        if book_id is not None:
            threads = threads.where(ThreadRow.book_id == book_id)
            ratings = ratings.where(ThreadRow.book_id == book_id)
        async with self._database.transaction(read_only=True) as session:
            sessions = await session.scalar(threads) or 0
            counts = {row[0]: row[1] for row in await session.execute(ratings)}
        return Figures(sessions=sessions, rated_up=counts.get(1, 0), rated_down=counts.get(-1, 0))
