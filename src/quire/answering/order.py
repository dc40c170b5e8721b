"""Which of the passages found for a question are read first."""

from __future__ import annotations

from quire.answering import changes, definitions
from quire.answering.intent import read_intent
from quire.models import Chunk


def reading_order(question: str, chunk: Chunk) -> int:
    """Less is sooner; among equals the ranking decides.

    What something is may be said on a page about something else, behind all those that speak of
    it; and a list of changes answers only questions about changes.
    """
    if not changes.asks_for_changes(question) and changes.lists_changes(chunk):
        return 2
    subject = read_intent(question).subject
    return 0 if definitions.is_defined(chunk.text, chunk.opening, subject) else 1
