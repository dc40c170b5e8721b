"""Conversations that forget personal data: what has a form is taken out before it is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from quire.conversations.personal import redact, redact_all
from quire.conversations.port import Exchange, Feedback, Outcome, Session, Turn
from quire.conversations.sql import SqlConversations
from quire.models import AnswerMode


class RedactingConversations(SqlConversations):
    """Redacts what readers write; the book's own words stay as they are.

    A question is answered as it was asked. What is stored of it, shown again, and given to
    later turns as history is the redacted text. An answer from a selection is made of the
    reader's text, so all of it is redacted.
    """

    async def begin_turn(
        self,
        session: Session,
        query: str,
        *,
        mode: AnswerMode = "general",
        selected_text: str | None = None,
        trace_id: str | None = None,
    ) -> Turn:
        """Store the question redacted."""
        return await super().begin_turn(
            session,
            redact(query),
            mode=mode,
            selected_text=None if selected_text is None else redact(selected_text),
            trace_id=trace_id,
        )

    async def complete_turn(self, turn: Turn, outcome: Outcome) -> Exchange:
        """Store the answer; what it repeats of the question is redacted."""
        details = dict(outcome.details)
        if turn.mode == "selected_text":
            details = redact_all(details)
            outcome = replace(
                outcome,
                response=redact(outcome.response),
                sources=tuple(redact_all(source) for source in outcome.sources),
            )
        elif question := details.get("standalone_question"):
            details["standalone_question"] = redact(question)
        summary = outcome.topic_summary
        return await super().complete_turn(
            turn,
            replace(
                outcome, details=details, topic_summary=None if summary is None else redact(summary)
            ),
        )

    async def rename(self, owner: str, session_id: str, title: str) -> None:
        """Give a title, redacted."""
        await super().rename(owner, session_id, redact(title))

    async def give_feedback(
        self, owner: str, exchange_id: str, rating: Literal[-1, 1], *, comment: str | None = None
    ) -> Feedback:
        """Store or replace a rating; its comment is redacted."""
        comment = None if comment is None else redact(comment)
        return await super().give_feedback(owner, exchange_id, rating, comment=comment)
