"""The port to stored conversations, and the values that pass through it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from quire.models import AnswerMode, Message

HISTORY_MESSAGES = 50
SUMMARY_FROM = 5
"""The exchange from which on a thread has a topic summary."""
SUMMARY_LENGTH = 200
IDLE = timedelta(hours=1)
"""How long a thread may rest before it is archived."""

TurnStatus = Literal["in_progress", "complete", "aborted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A thread that was opened by the owner of `book_id`'s key."""

    id: str
    owner: str
    book_id: str
    created_at: datetime
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question that is being answered; it holds its session until it ends."""

    id: str
    session: Session
    sequence: int
    history: tuple[Message, ...]
    """The last messages before this turn, whole exchanges only, oldest first."""
    completed: int
    """Complete exchanges before this one."""
    mode: AnswerMode = "general"

    @property
    def wants_summary(self) -> bool:
        """Whether completing this turn stores a topic summary, if one is given."""
        return self.completed + 1 >= SUMMARY_FROM


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a question was answered."""

    response: str
    sources: tuple[dict[str, Any], ...] = ()
    chunks_retrieved: int = 0
    latency_ms: float = 0.0
    confidence: float | None = None
    trace_id: str | None = None
    refusal_reason: str | None = None
    """Why the book doesn't answer; None when it does."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """What else the answer said, as plain JSON values."""
    topic_summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One stored exchange."""

    id: str
    session_id: str
    sequence: int
    status: TurnStatus
    query: str
    response: str
    sources: list[dict[str, Any]]
    mode: AnswerMode
    selected_text: str | None
    chunks_retrieved: int
    latency_ms: float
    confidence: float | None
    trace_id: str | None
    refusal_reason: str | None
    details: dict[str, Any]
    created_at: datetime
    completed_at: datetime | None

    @property
    def messages(self) -> tuple[Message, Message]:
        """Question and answer of a complete exchange."""
        return (
            Message(role="user", content=self.query, created_at=self.created_at),
            Message(
                role="assistant",
                content=self.response,
                created_at=self.completed_at or self.created_at,
                confidence=self.confidence,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSummary:
    """A thread as it stands in a list."""

    id: str
    book_id: str
    title: str
    exchanges: int
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    topic_summary: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread(ThreadSummary):
    """A thread with its last complete exchanges, oldest first."""

    last: tuple[Exchange, ...]
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def messages(self) -> tuple[Message, ...]:
        """The last messages, oldest first."""
        return tuple(message for exchange in self.last for message in exchange.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a reader thought of one answer."""

    exchange_id: str
    rating: Literal[-1, 1]
    comment: str | None
    created_at: datetime


class Conversations(Protocol):
    """Threads of one owner and one book each; everyone else gets `NotFound`.

    Every method raises `StorageUnavailable` when the store doesn't answer.
    """

    async def open(
        self,
        owner: str,
        book_id: str,
        *,
        session_id: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> Session:
        """Resume the session, or begin one (under the given id, if the client made one up).

        `NotFound` if the id is another owner's or another book's.
        """
        ...

    async def begin_turn(
        self,
        session: Session,
        query: str,
        *,
        mode: AnswerMode = "general",
        selected_text: str | None = None,
        trace_id: str | None = None,
    ) -> Turn:
        """Wait until no other turn holds the session, then take it.

        Raises `Conflict` when the conversation has had its full number of turns, or when
        other turns hold it for too long. A turn whose process died is aborted on the way.
        """
        ...

    async def complete_turn(self, turn: Turn, outcome: Outcome) -> Exchange:
        """Store the answer and let go of the session, in one transaction.

        `Conflict` if the turn was given up meanwhile (its process seemed dead).
        """
        ...

    async def abort_turn(self, turn: Turn) -> None:
        """Let go of the session without an answer; a turn that has ended stays as it is."""
        ...

    async def history(self, session: Session, *, limit: int = HISTORY_MESSAGES) -> list[Message]:
        """The last messages, whole exchanges only, oldest first."""
        ...

    async def thread(self, owner: str, session_id: str, *, book_id: str | None = None) -> Thread:
        """A thread with its last 50 messages, or `NotFound`."""
        ...

    async def threads(
        self,
        owner: str,
        *,
        book_id: str | None = None,
        archived: bool | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> list[ThreadSummary]:
        """The owner's threads, the one that was last active first."""
        ...

    async def exchanges(self, owner: str, session_id: str) -> list[Exchange]:
        """Every exchange of a thread in order, aborted ones too, or `NotFound`."""
        ...

    async def rename(self, owner: str, session_id: str, title: str) -> None:
        """Give a thread a title of its own, or `NotFound`."""
        ...

    async def delete(self, owner: str, session_id: str, *, book_id: str | None = None) -> None:
        """Erase a thread with its exchanges and feedback, or `NotFound`."""
        ...

    async def archive_idle(self, *, idle: timedelta = IDLE) -> int:
        """Mark threads that rested for so long; they can be resumed. Returns how many."""
        ...

    async def delete_older_than(self, age: timedelta) -> int:
        """Erase threads that were last active so long ago; returns how many."""
        ...

    async def erase_owner(self, owner: str) -> int:
        """Erase all of an owner's threads; returns how many."""
        ...

    async def give_feedback(
        self, owner: str, exchange_id: str, rating: Literal[-1, 1], *, comment: str | None = None
    ) -> Feedback:
        """Rate an answer; a second rating replaces the first. `NotFound` for others' answers."""
        ...

    async def close(self) -> None:
        """Stop keeping turns alive; those still open are aborted."""
        ...


@asynccontextmanager
async def turn(
    conversations: Conversations,
    session: Session,
    query: str,
    *,
    mode: AnswerMode = "general",
    selected_text: str | None = None,
    trace_id: str | None = None,
) -> AsyncGenerator[Turn]:
    """A turn that is aborted when the block ends, by any way, without `complete_turn`."""
    current = await conversations.begin_turn(
        session, query, mode=mode, selected_text=selected_text, trace_id=trace_id
    )
    try:
        yield current
    finally:
        await asyncio.shield(conversations.abort_turn(current))
