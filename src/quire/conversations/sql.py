"""Conversations in the relational store."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from quire.conversations.port import (
    HISTORY_MESSAGES,
    IDLE,
    Exchange,
    Feedback,
    Outcome,
    Session,
    Thread,
    ThreadSummary,
    Turn,
)
from quire.conversations.rows import exchange, find_thread, last_exchanges, last_messages
from quire.conversations.turns import Turns
from quire.database import Database
from quire.database.tables import ExchangeRow, FeedbackRow, ThreadRow
from quire.errors import InvalidRequest, NotFound
from quire.models import AnswerMode, Message, utc_now

_TITLE_LENGTH = 80


class SqlConversations:
    """`Conversations` on SQLite or PostgreSQL; one row per exchange, one per thread."""

    def __init__(
        self,
        database: Database,
        *,
        max_turns: int | None = None,
        patience: float = 60.0,
        lease: timedelta = timedelta(seconds=15),
    ) -> None:
        """`patience`: seconds a turn waits for others; `lease`: how long a dead one holds on."""
        self._database = database
        self._turns = Turns(database, max_turns=max_turns, patience=patience, lease=lease)

    async def open(
        self,
        owner: str,
        book_id: str,
        *,
        session_id: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Session:
        """Two concurrent calls with one new id get the same session."""
        session_id = _uuid(session_id) if session_id else str(uuid.uuid4())
        now = utc_now()
        async with self._database.transaction() as transaction:
            created = await transaction.scalar(
                self._database.insert(ThreadRow)
                .values(
                    thread_id=session_id,
                    owner=owner,
                    book_id=book_id,
                    created_at=now,
                    updated_at=now,
                    details=metadata or {},
                )
                .on_conflict_do_nothing(index_elements=["thread_id"])
                .returning(ThreadRow.thread_id)
            )
            row = await find_thread(transaction, owner, session_id, book_id=book_id)
            return Session(
                id=session_id,
                owner=owner,
                book_id=book_id,
                created_at=row.created_at,
                is_new=created is not None,
            )

    async def begin_turn(
        self,
        session: Session,
        query: str,
        *,
        mode: AnswerMode = "general",
        selected_text: str | None = None,
        trace_id: str | None = None,
    ) -> Turn:
        """Wait for the session and take it."""
        return await self._turns.begin(
            session, query, mode=mode, selected_text=selected_text, trace_id=trace_id
        )

    async def complete_turn(self, turn: Turn, outcome: Outcome) -> Exchange:
        """Store the answer and let go."""
        return await self._turns.complete(turn, outcome)

    async def abort_turn(self, turn: Turn) -> None:
        """Let go without an answer."""
        await self._turns.abort(turn)

    async def history(self, session: Session, *, limit: int = HISTORY_MESSAGES) -> list[Message]:
        """The last messages of whole exchanges."""
        async with self._database.transaction(read_only=True) as transaction:
            await find_thread(transaction, session.owner, session.id, book_id=session.book_id)
            return await last_messages(transaction, session.id, limit)

    async def thread(self, owner: str, session_id: str, *, book_id: str | None = None) -> Thread:
        """The thread with its last exchanges."""
        async with self._database.transaction(read_only=True) as transaction:
            row = await find_thread(transaction, owner, session_id, book_id=book_id)
            [summary] = await self._summaries(transaction, ThreadRow.thread_id == session_id)
            last = await last_exchanges(transaction, session_id, HISTORY_MESSAGES)
        values = {name: getattr(summary, name) for name in ThreadSummary.__slots__}
        return Thread(**values, last=tuple(last), metadata=row.details)

    async def threads(
        self,
        owner: str,
        *,
        book_id: str | None = None,
        archived: bool | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ThreadSummary]:
        """The owner's threads."""
        conditions = [ThreadRow.owner == owner]
        if book_id is not None:
            conditions.append(ThreadRow.book_id == book_id)
        if archived is not None:
            marked = ThreadRow.archived_at.is_not(None)
            conditions.append(marked if archived else ~marked)
        async with self._database.transaction(read_only=True) as transaction:
            return await self._summaries(transaction, *conditions, limit=limit, offset=offset)

    async def exchanges(self, owner: str, session_id: str) -> list[Exchange]:
        """Every exchange, in order."""
        async with self._database.transaction(read_only=True) as transaction:
            await find_thread(transaction, owner, session_id)
            rows = await transaction.scalars(
                select(ExchangeRow)
                .where(ExchangeRow.session_id == session_id)
                .order_by(ExchangeRow.sequence)
            )
            return [exchange(row) for row in rows]

    async def rename(self, owner: str, session_id: str, title: str) -> None:
        """Give a title."""
        title = " ".join(title.split())
        if not 1 <= len(title) <= 200:
            raise InvalidRequest("a title has 1 to 200 characters", field="title")
        async with self._database.transaction() as transaction:
            (await find_thread(transaction, owner, session_id)).title = title

    async def delete(self, owner: str, session_id: str, *, book_id: str | None = None) -> None:
        """Erase a thread; exchanges and feedback go with it."""
        async with self._database.transaction() as transaction:
            row = await find_thread(transaction, owner, session_id, book_id=book_id)
            await transaction.delete(row)
        await self._database.purge()

    async def archive_idle(self, *, idle: timedelta = IDLE) -> int:
        """Mark idle threads."""
        now = utc_now()
        async with self._database.transaction() as transaction:
            marked = await transaction.scalars(
                update(ThreadRow)
                .where(ThreadRow.archived_at.is_(None), ThreadRow.updated_at < now - idle)
                .values(archived_at=now)
                .returning(ThreadRow.thread_id)
            )
            return len(marked.all())

    async def delete_older_than(self, age: timedelta) -> int:
        """Erase old threads."""
        return await self._delete(ThreadRow.updated_at < utc_now() - age)

    async def erase_owner(self, owner: str) -> int:
        """Erase an owner's threads, and those of its visitors."""
        visitors = ThreadRow.owner.startswith(f"{owner}/", autoescape=True)
        return await self._delete((ThreadRow.owner == owner) | visitors)

    async def give_feedback(
        self, owner: str, exchange_id: str, rating: Literal[-1, 1], *, comment: str | None = None
    ) -> Feedback:
        """Store or replace a rating."""
        opinion: dict[str, Any] = {"rating": rating, "comment": comment, "created_at": utc_now()}
        exchange_id = _uuid(exchange_id)
        async with self._database.transaction() as transaction:
            found = await transaction.scalar(
                select(ExchangeRow.id)
                .join(ThreadRow, ThreadRow.thread_id == ExchangeRow.session_id)
                .where(ExchangeRow.id == exchange_id, ThreadRow.owner == owner)
            )
            if found is None:
                raise NotFound("there is no such answer", details={"exchange_id": exchange_id})
            await transaction.execute(
                self._database.insert(FeedbackRow)
                .values(exchange_id=exchange_id, **opinion)
                .on_conflict_do_update(index_elements=["exchange_id"], set_=opinion)
            )
        return Feedback(exchange_id=exchange_id, **opinion)

    async def close(self) -> None:
        """Abort the turns that are open in this process."""
        await self._turns.close()

    async def _delete(self, condition: ColumnElement[bool]) -> int:
        async with self._database.transaction() as transaction:
            gone = await transaction.scalars(
                delete(ThreadRow).where(condition).returning(ThreadRow.thread_id)
            )
            count = len(gone.all())
        if count:
            await self._database.purge()
        return count

    async def _summaries(
        self,
        transaction: AsyncSession,
        *conditions: ColumnElement[bool],
        limit: int = 1,
        offset: int = 0,
    ) -> list[ThreadSummary]:
        own = ExchangeRow.session_id == ThreadRow.thread_id
        count = select(func.count()).where(own, ExchangeRow.status == "complete").scalar_subquery()
        first = (
            select(ExchangeRow.query)
            .where(own)
            # a greeting searches for nothing, and no thread is called after it
            .order_by(ExchangeRow.chunks_retrieved == 0, ExchangeRow.sequence)
            .limit(1)
            .scalar_subquery()
        )
        rows = await transaction.execute(
            select(ThreadRow, count, first)
            .where(*conditions)
            .order_by(ThreadRow.updated_at.desc(), ThreadRow.thread_id)
            .limit(limit)
            .offset(offset)
        )
        return [_summary(thread, exchanges, question) for thread, exchanges, question in rows]


def _summary(row: ThreadRow, exchanges: int, first_question: str | None) -> ThreadSummary:
    title = row.title or " ".join((first_question or "").split())[:_TITLE_LENGTH]
    return ThreadSummary(
        id=row.thread_id,
        book_id=row.book_id,
        title=title,
        exchanges=exchanges,
        created_at=row.created_at,
        updated_at=row.updated_at,
        archived_at=row.archived_at,
        topic_summary=row.topic_summary,
    )


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError as error:
        raise InvalidRequest("a session id is a UUID", field="session_id") from error
