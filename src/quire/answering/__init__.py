"""Answering: an agent that proves every sentence with a quote of the book, or refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from quire.answering.answerer import Answerer
from quire.answering.citations import verify_citation
from quire.answering.events import AnswerDone, AnswerEvent, SentenceReady, SourcesReady
from quire.answering.followups import standalone_question
from quire.answering.ports import Claim, Excerpt, Retriever, Support
from quire.answering.question import Limits, Question
from quire.answering.topics import topic_summary

if TYPE_CHECKING:
    from quire.answering.extractive import ExtractiveModel

__all__ = [
    "Answerer",
    "Question",
    "Limits",
    "AnswerEvent",
    "SentenceReady",
    "SourcesReady",
    "AnswerDone",
    "ExtractiveModel",
    "Retriever",
    "Excerpt",
    "Support",
    "Claim",
    "standalone_question",
    "topic_summary",
    "verify_citation",
]


def __getattr__(name: str) -> Any:
    """`ExtractiveModel` brings the agents SDK with it, so it is imported when it is asked for."""
    if name == "ExtractiveModel":
        from quire.answering.extractive import ExtractiveModel

        return ExtractiveModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
