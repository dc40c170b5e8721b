"""Which of the passages found for a question are read first."""

from __future__ import annotations

from collections.abc import Callable

from quire.answering import changes, definitions
from quire.answering.intent import read_intent
from quire.answering.whole import whole_book
from quire.models import Chunk


def far_definition(question: str) -> Callable[[Chunk], bool] | None:
    """Which chunk is worth having from far down the ranking, if the question asks what a thing is.

    In a book about ROS 2 every page names it, and search hardly tells the one that says what it is.
    """
    subject = read_intent(question).subject
    if not subject:
        return None
    return lambda chunk: definitions.is_said_outright(chunk.markdown, chunk.opening, subject)


def reading_order(question: str, chunk: Chunk) -> int:
    """Less is sooner; among equals the ranking decides.

    What something is may be said on a page about something else, behind all those that speak of
    it; and a list of changes answers only questions about changes.
    """
    whole = whole_book(question)
    if whole:
        return whole.place(chunk)
    if not changes.asks_for_changes(question) and changes.lists_changes(chunk):
        return 2
    subject = read_intent(question).subject
    return 0 if definitions.is_defined(chunk.markdown, chunk.opening, subject) else 1
