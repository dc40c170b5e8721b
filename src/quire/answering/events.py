"""What an answerer sends while it works; the texts of a stream add up to the answer's text."""

from __future__ import annotations

from dataclasses import dataclass

from quire.models import Answer, Citation, Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceReady:
    """A verified piece of the answer; append `text` as it is (separators are in it)."""

    text: str
    citations: tuple[Citation, ...] = ()
    """The citations this piece shows, new and old."""
    sentence: Sentence | None = None
    """None for words that claim nothing: a refusal, a disclaimer, a question back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcesReady:
    """Every citation of the answer, by number; empty for a refusal."""

    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDone:
    """The whole answer; always the last event."""

    answer: Answer


AnswerEvent = SentenceReady | SourcesReady | AnswerDone
