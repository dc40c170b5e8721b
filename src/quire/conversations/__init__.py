"""Conversations: threads of exchanges that belong to one owner and one book."""

from quire.conversations.port import (
    Conversations,
    Exchange,
    Feedback,
    Outcome,
    Session,
    Thread,
    ThreadSummary,
    Turn,
    turn,
)

__all__ = [
    "Conversations",
    "Exchange",
    "Feedback",
    "Outcome",
    "Session",
    "Thread",
    "ThreadSummary",
    "Turn",
    "turn",
]
