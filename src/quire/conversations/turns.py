"""Turns: taking a session, answering, letting go; one at a time in every session."""

from __future__ import annotations

import asyncio
import uuid
from datetime import datetime, timedelta
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from quire.conversations.leases import TurnLeases
from quire.conversations.port import (
    HISTORY_MESSAGES,
    SUMMARY_LENGTH,
    Exchange,
    Outcome,
    Session,
    Turn,
)
from quire.conversations.rows import exchange, find_thread, last_messages
from quire.database import Database
from quire.database.tables import ExchangeRow, ThreadRow
from quire.errors import Conflict
from quire.models import AnswerMode, utc_now

_FIRST_LOOK = 0.02
_LAST_LOOK = 0.25


class Turns:
    """Serial turns by a lease in the database; no connection is held while one is answered.

    Waiting turns of this process stand in line, in the order they came; those of other
    processes are noticed by looking again.
    """

    def __init__(
        self,
        database: Database,
        *,
        max_turns: int | None,
        patience: float,
        lease: timedelta,
    ) -> None:
        self._database = database
        self._max_turns = max_turns
        self._patience = patience
        self._leases = TurnLeases(database, lease)
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def begin(
        self,
        session: Session,
        query: str,
        *,
        mode: AnswerMode,
        selected_text: str | None,
        trace_id: str | None,
    ) -> Turn:
        """See `Conversations.begin_turn`."""
        row: dict[str, Any] = {
            "id": str(uuid.uuid4()),
            "session_id": session.id,
            "status": "in_progress",
            "query": query,
            "response": "",
            "sources": [],
            "mode": mode,
            "selected_text": selected_text,
            "details": {},
            "chunks_retrieved": 0,
            "latency_ms": 0.0,
            "trace_id": trace_id,
        }
        line = self._lines.setdefault(session.id, asyncio.Lock())
        until = asyncio.get_running_loop().time() + self._patience
        try:
            async with asyncio.timeout_at(until):
                await line.acquire()
        except TimeoutError as error:
            raise _held() from error
        try:
            turn = await self._take_when_free(session, row, until)
        except asyncio.CancelledError:
            # It may have been cut short while the database was committing.
            await asyncio.shield(self._abort(row["id"]))
            raise
        finally:
            line.release()
        self._leases.keep(turn.id)
        return turn

    async def complete(self, turn: Turn, outcome: Outcome) -> Exchange:
        """See `Conversations.complete_turn`."""
        self._leases.drop(turn.id)
        now = utc_now()
        async with self._database.transaction() as session:
            row = await session.scalar(
                update(ExchangeRow)
                .where(ExchangeRow.id == turn.id, ExchangeRow.status == "in_progress")
                .values(
                    status="complete",
                    response=outcome.response,
                    sources=list(outcome.sources),
                    chunks_retrieved=outcome.chunks_retrieved,
                    latency_ms=outcome.latency_ms,
                    confidence=outcome.confidence,
                    trace_id=outcome.trace_id or ExchangeRow.trace_id,
                    refusal_reason=outcome.refusal_reason,
                    details=outcome.details,
                    completed_at=now,
                    lease_expires_at=None,
                )
                .returning(ExchangeRow)
            )
            if row is None:
                raise Conflict("this turn was given up, or its conversation was erased")
            thread = update(ThreadRow).where(ThreadRow.thread_id == turn.session.id)
            await session.execute(thread.values(updated_at=now))
            if outcome.topic_summary and turn.wants_summary:
                summary = _shortened(outcome.topic_summary)
                await session.execute(thread.values(topic_summary=summary))
            return exchange(row)

    async def abort(self, turn: Turn) -> None:
        """See `Conversations.abort_turn`."""
        self._leases.drop(turn.id)
        await self._abort(turn.id)

    async def close(self) -> None:
        """Abort what is open."""
        await self._leases.close()
        if turns := self._leases.open_turns:
            await self._abort(*turns)

    async def _abort(self, *turn_ids: str) -> None:
        async with self._database.transaction() as transaction:
            await transaction.execute(
                update(ExchangeRow)
                .where(ExchangeRow.id.in_(turn_ids), ExchangeRow.status == "in_progress")
                .values(status="aborted", completed_at=utc_now(), lease_expires_at=None)
            )

    async def _take_when_free(self, session: Session, row: dict[str, Any], until: float) -> Turn:
        """Only other turns try the patience: a slow database doesn't count as one of them."""
        pause = _FIRST_LOOK
        while True:
            turn = await self._take(session, row)
            if turn is not None:
                return turn
            if asyncio.get_running_loop().time() >= until:
                raise _held()
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_LOOK)

    async def _take(self, session: Session, row: dict[str, Any]) -> Turn | None:
        """Take the session unless a living turn holds it."""
        now = utc_now()
        async with self._database.transaction() as transaction:
            thread = await find_thread(
                transaction, session.owner, session.id, book_id=session.book_id, lock=True
            )
            if await _is_held(transaction, session.id, now):
                return None
            completed = await _count_complete(transaction, session.id)
            if self._max_turns is not None and completed >= self._max_turns:
                raise Conflict(
                    f"this conversation has had its {self._max_turns} turns; begin a new one",
                    details={"max_turns": self._max_turns},
                )
            sequence = await _next_sequence(transaction, session.id)
            await transaction.execute(
                insert(ExchangeRow).values(
                    **row, sequence=sequence, created_at=now, lease_expires_at=self._leases.expiry()
                )
            )
            thread.updated_at, thread.archived_at = now, None
            history = await last_messages(transaction, session.id, HISTORY_MESSAGES)
        return Turn(
            id=row["id"],
            session=session,
            sequence=sequence,
            history=tuple(history),
            completed=completed,
            mode=row["mode"],
        )


def _held() -> Conflict:
    return Conflict("another question of this conversation is still being answered; try again")


async def _is_held(transaction: AsyncSession, session_id: str, now: datetime) -> bool:
    """Whether a living turn holds the session; dead ones are aborted on the way."""
    running = (ExchangeRow.session_id == session_id) & (ExchangeRow.status == "in_progress")
    await transaction.execute(
        update(ExchangeRow)
        .where(running, ExchangeRow.lease_expires_at < now)
        .values(status="aborted", completed_at=now, lease_expires_at=None)
    )
    return await transaction.scalar(select(ExchangeRow.id).where(running).limit(1)) is not None


async def _count_complete(transaction: AsyncSession, session_id: str) -> int:
    query = select(func.count()).where(
        ExchangeRow.session_id == session_id, ExchangeRow.status == "complete"
    )
    return await transaction.scalar(query) or 0


async def _next_sequence(transaction: AsyncSession, session_id: str) -> int:
    query = select(func.max(ExchangeRow.sequence)).where(ExchangeRow.session_id == session_id)
    return (await transaction.scalar(query) or 0) + 1


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= SUMMARY_LENGTH:
        return text
    return text[: SUMMARY_LENGTH - 1].rstrip() + "…"
