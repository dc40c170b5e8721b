"""Conversations and what readers thought of answers."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from quire.api.schemas.chat import ChatResponse
from quire.api.schemas.fields import Request, SessionId, Words
from quire.conversations import Exchange, Thread, ThreadSummary


class ThreadMessage(BaseModel):
    """One message of a thread."""

    role: Literal["user", "assistant"]
    content: str
    timestamp: datetime
    confidence: float | None = None
    selected_text: str | None = Field(
        default=None, description="What the reader had selected; on their message."
    )
    response: ChatResponse | None = Field(
        default=None, description="The whole answer, as it was sent; on the assistant's message."
    )

    @classmethod
    def both(cls, exchange: Exchange, book_id: str) -> tuple[Self, Self]:
        """Question and answer of a stored exchange."""
        asked, answered = (
            cls(
                role=message.role,
                content=message.content,
                timestamp=message.created_at,
                confidence=message.confidence,
            )
            for message in exchange.messages
        )
        asked.selected_text = exchange.selected_text
        answered.response = ChatResponse.of_exchange(exchange, book_id)
        return asked, answered


class ThreadOverview(BaseModel):
    """A thread as it stands in a list."""

    thread_id: str
    book_id: str
    title: str
    exchanges: int
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    topic_summary: str | None

    @classmethod
    def of(cls, thread: ThreadSummary) -> Self:
        """The wire form of a thread's summary."""
        names = set(ThreadOverview.model_fields) - {"thread_id"}
        return cls(thread_id=thread.id, **{name: getattr(thread, name) for name in names})


class ConversationThread(ThreadOverview):
    """A thread with its last 50 messages."""

    messages: list[ThreadMessage]
    metadata: dict[str, Any]

    @classmethod
    def of_thread(cls, thread: Thread) -> Self:
        """The wire form of a thread."""
        return cls(
            **ThreadOverview.of(thread).model_dump(),
            messages=[
                message
                for exchange in thread.last
                for message in ThreadMessage.both(exchange, thread.book_id)
            ],
            metadata=thread.metadata,
        )


class ThreadList(BaseModel):
    """An owner's threads, the last active one first."""

    sessions: list[ThreadOverview]


class RenameRequest(Request):
    """A title for a thread."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"title": "Quality of service"}]}
    )

    title: Words = Field(min_length=1, max_length=200)


class FeedbackRequest(Request):
    """What a reader thought of an answer, named by its trace id or exchange id."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "session_id": "550e8400-e29b-41d4-a716-446655440000",
                    "trace_id": "dccdd83608d04464a090325b08312083",
                    "rating": "down",
                    "reason": "Something is missing",
                }
            ]
        },
    )

    session_id: SessionId
    exchange_id: str | None = None
    trace_id: str | None = None
    rating: Literal["up", "down"]
    reason: str | None = Field(default=None, max_length=1000)

    @model_validator(mode="after")
    def _names_an_answer(self) -> Self:
        if not (self.exchange_id or self.trace_id):
            raise ValueError("exchange_id or trace_id is required")
        return self
