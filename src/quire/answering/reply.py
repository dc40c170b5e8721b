"""The reply under way: what has been said, and how it ends as an answer or a refusal."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from quire.answering import refusal
from quire.answering.composition import Composer
from quire.answering.events import AnswerDone, AnswerEvent, SentenceReady, SourcesReady
from quire.answering.question import Question
from quire.answering.turn import NO_CONFIDENCE
from quire.answering.verification import Proven
from quire.models import Answer, Confidence, Passage, RefusalReason, Suggestion


class Reply:
    """Says things through `emit`, in order, and ends exactly once."""

    def __init__(
        self, question: Question, model_name: str, emit: Callable[[AnswerEvent], None]
    ) -> None:
        self._question = question
        self._model_name = model_name
        self._emit = emit
        self._started = time.perf_counter()
        self._composer: Composer | None = None
        self._asked: tuple[str, tuple[Suggestion, ...]] | None = None
        self.standalone = question.text.strip()
        self.passages: tuple[Passage, ...] = ()
        self.confidence: Confidence = NO_CONFIDENCE
        self.tokens_used = 0

    @property
    def spoken(self) -> bool:
        """Whether anything proven has been said."""
        return self._composer is not None and bool(self._composer.sentences)

    @property
    def asked_back(self) -> bool:
        """Whether the reply is a question to the reader."""
        return self._asked is not None

    def say(self, proven: Proven) -> None:
        """Say a proven sentence, unless it has been said."""
        if self._composer is None:
            low = self.confidence.level == "low"
            self._composer = Composer(opening=refusal.DISCLAIMER if low else "")
        self._composer.admit(self.passages)
        piece = self._composer.add(proven)
        if piece is not None:
            self._emit(piece)

    def ask_back(self, text: str, choices: Sequence[Suggestion]) -> None:
        """Ask the reader which of the choices is meant."""
        self._asked = (text, tuple(choices))
        self._emit(SentenceReady(text=text))

    def end(self, unanswered: Sequence[str] = ()) -> None:
        """End as an answer, or as the question back.

        `unanswered` are the parts of the question that the book doesn't answer.
        """
        if self._asked is not None:
            text, choices = self._asked
            self._finish(text, clarification=True, nearby=choices)
            return
        composer = self._composer or Composer()
        for words in unanswered:
            self._emit(composer.close(refusal.unanswered(words)))
        self._finish(composer.text, composer=composer, should_answer=True)

    def refuse(self, reason: RefusalReason, text: str | None = None) -> None:
        """End as the refusal."""
        nearby = refusal.suggestions(self.passages, reason) if text is None else ()
        text = text or refusal.text_for(reason, nearby)
        self._emit(SentenceReady(text=text))
        self._finish(text, reason=reason, nearby=nearby)

    def _finish(
        self,
        text: str,
        *,
        composer: Composer | None = None,
        should_answer: bool = False,
        reason: RefusalReason | None = None,
        clarification: bool = False,
        nearby: Sequence[Suggestion] = (),
    ) -> None:
        citations = composer.citations if composer else ()
        answer = Answer(
            question=self._question.text,
            text=text,
            sentences=composer.sentences if composer else (),
            citations=citations,
            mode=self._question.mode,
            confidence=self.confidence,
            should_answer=should_answer,
            refusal_reason=reason,
            clarification=clarification,
            suggestions=tuple(nearby),
            standalone_question=self.standalone,
            passages=self.passages,
            filters=self._question.filters,
            selection_source=self._question.selection_source,
            book_id=self._question.book_id,
            session_id=self._question.session_id,
            model=self._model_name,
            tokens_used=self.tokens_used,
            elapsed_ms=round((time.perf_counter() - self._started) * 1000, 3),
            trace_id=self._question.trace_id,
        )
        self._emit(SourcesReady(citations=citations))
        self._emit(AnswerDone(answer=answer))
