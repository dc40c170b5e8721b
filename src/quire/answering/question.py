"""What is asked of an answerer, and the limits of a turn."""

from __future__ import annotations

from dataclasses import dataclass

from quire.models import AnswerMode, Filters, SelectionSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question to one book, with everything the caller bound it to."""

    text: str
    book_id: str
    book_title: str = ""
    base_url: str | None = None
    """The only address that links in an answer may lead to."""
    mode: AnswerMode = "general"
    selected_text: str | None = None
    selection_source: SelectionSource | None = None
    """Where the selection stands in the book; whoever sets it has checked it."""
    top_k: int = 5
    score_threshold: float | None = None
    filters: Filters = Filters()
    session_id: str | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one turn."""

    max_question_chars: int = 2000
    max_selection_chars: int = 10_000
    max_top_k: int = 20
    max_model_calls: int = 4
    max_output_tokens: int = 1200
    max_history_messages: int = 50
    max_history_chars: int = 12_000
    turn_seconds: float = 120.0
    off_topic_similarity: float = 0.25
    """A refusal whose best passage is below this is `off_topic`, else `low_confidence`."""
    min_support: float = 0.5
    """Share of a drafted sentence's weight that its quotes must hold."""
