"""Which of the passages found for a question are read first."""

from __future__ import annotations

from quire.answering import changes, definitions, quotable
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
    named = definitions.may_name(chunk.text, subject)
    units = quotable.units(chunk.text, chunk.opening) if named else ()
    return 0 if any(definitions.defines(chunk.text, unit, subject) for unit in units) else 1
