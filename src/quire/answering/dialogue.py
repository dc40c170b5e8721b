"""Answers within a stored conversation: history in, the whole turn out, or no trace of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import Any

from quire.answering.answerer import Answerer
from quire.answering.events import AnswerDone, AnswerEvent
from quire.answering.question import Question
from quire.answering.topics import topic_summary
from quire.conversations import Conversations, Outcome, Turn, turn
from quire.models import Answer, Message


class Dialogue:
    """Binds an answerer to stored threads; turns of one thread follow one another."""

    def __init__(self, answerer: Answerer, conversations: Conversations) -> None:
        self._answerer = answerer
        self._conversations = conversations

    async def answer(self, question: Question, owner: str) -> Answer:
        """Answer as the next turn of the question's session; a new one if it names none.

        A turn that fails or is cancelled is not stored as complete.
        """
        async with aclosing(self.stream(question, owner)) as events:
            async for event in events:
                if isinstance(event, AnswerDone):
                    return event.answer
        raise AssertionError("an answer always ends with AnswerDone")

    async def stream(self, question: Question, owner: str) -> AsyncGenerator[AnswerEvent]:
        """The same as events; the turn is stored before the last one is sent.

        No database transaction is open while events are sent.
        """
        session = await self._conversations.open(
            owner, question.book_id, session_id=question.session_id
        )
        question = replace(question, session_id=session.id)
        async with (
            turn(
                self._conversations,
                session,
                question.text,
                mode=question.mode,
                selected_text=question.selected_text,
                trace_id=question.trace_id,
            ) as current,
            aclosing(self._answerer.stream(question, current.history)) as events,
        ):
            async for event in events:
                if isinstance(event, AnswerDone):
                    await self._store(current, event.answer)
                yield event

    async def _store(self, current: Turn, answer: Answer) -> None:
        summary = None
        if current.wants_summary:
            asked = Message(role="user", content=answer.question)
            summary = topic_summary([*current.history, asked])
        await self._conversations.complete_turn(
            current,
            Outcome(
                response=answer.text,
                sources=tuple(asdict(citation) for citation in answer.citations),
                chunks_retrieved=len(answer.passages),
                latency_ms=answer.elapsed_ms,
                confidence=answer.confidence.probability,
                trace_id=answer.trace_id,
                refusal_reason=answer.refusal_reason,
                details=details_of(answer),
                topic_summary=summary,
            ),
        )


def details_of(answer: Answer) -> dict[str, Any]:
    """What an answer says beside its text and sources, so that it can be shown again as it was."""
    return {
        "model": answer.model,
        "tokens_used": answer.tokens_used,
        "confidence_level": answer.confidence.level,
        "should_answer": answer.should_answer,
        "clarification": answer.clarification,
        "filters": answer.filters.applied(),
        "sentences": [asdict(sentence) for sentence in answer.sentences],
        "suggestions": [asdict(suggestion) for suggestion in answer.suggestions],
        "standalone_question": answer.standalone_question,
        "selection_source": asdict(answer.selection_source) if answer.selection_source else None,
    }
