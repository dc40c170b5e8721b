"""Reading threads and exchanges out of their tables."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from quire.conversations.port import Exchange
from quire.database.tables import ExchangeRow, ThreadRow
from quire.errors import NotFound
from quire.models import Message


async def find_thread(
    transaction: AsyncSession,
    owner: str,
    session_id: str,
    *,
    book_id: str | None = None,
    lock: bool = False,
) -> ThreadRow:
    """The owner's thread; `NotFound` whether it is absent, another's or another book's."""
    query = select(ThreadRow).where(ThreadRow.thread_id == session_id, ThreadRow.owner == owner)
    if book_id is not None:
        query = query.where(ThreadRow.book_id == book_id)
    row = await transaction.scalar(query.with_for_update() if lock else query)
    if row is None:
        raise NotFound("there is no such conversation", details={"session_id": session_id})
    return row


async def last_exchanges(
    transaction: AsyncSession, session_id: str, messages: int
) -> list[Exchange]:
    """The last complete exchanges, as many as make so many messages, oldest first."""
    rows = await transaction.scalars(
        select(ExchangeRow)
        .where(ExchangeRow.session_id == session_id, ExchangeRow.status == "complete")
        .order_by(ExchangeRow.sequence.desc())
        .limit(messages // 2)
    )
    return [exchange(row) for row in reversed(rows.all())]


async def last_messages(transaction: AsyncSession, session_id: str, limit: int) -> list[Message]:
    """The last messages of whole exchanges, oldest first."""
    found = await last_exchanges(transaction, session_id, limit)
    return [message for each in found for message in each.messages]


def exchange(row: ExchangeRow) -> Exchange:
    """The row as a value."""
    return Exchange(**{name: getattr(row, name) for name in Exchange.__slots__})
