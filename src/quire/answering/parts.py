"""Questions that ask two things at once, as two questions that each stand alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from quire.answering import lexicon
from quire.answering.followups import standalone_question
from quire.models import Message

_WORDS: Final = r"(?:what|how|why|when|where|which|who)\b"
_BETWEEN: Final = re.compile(
    rf"(?:\?\s*(?:and\s+|also,?\s+)?|,?\s+and\s+(?:also\s+)?)(?={_WORDS})", re.IGNORECASE
)
_ASKS: Final = re.compile(
    rf"\W*(?:so\s+|and\s+)?(?:{_WORDS}|(?:is|are|was|were|do|does|did|can|could|should|will|has|have|"
    r"explain|describe|define|tell)\b)",
    re.IGNORECASE,
)
_LONGEST: Final = 300
"""Characters; what is longer tells a story first, and its sentences aren't questions alone."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the questions."""

    words: str
    """As the reader put it."""
    query: str
    """The same with what it takes from the other part."""


@lru_cache(maxsize=256)
def two_parts(question: str) -> tuple[Part, Part] | None:
    """Both questions; None if there aren't two."""
    if len(question) > _LONGEST:
        return None
    pieces = [piece.strip(" ?,.;") for piece in _BETWEEN.split(question.strip())]
    if len(pieces) != 2 or not _ASKS.match(pieces[0]) or not lexicon.content_stems(pieces[0]):
        return None
    first, second = (f"{piece}?" for piece in pieces)
    alone = standalone_question(second, [Message(role="user", content=first)])
    return Part(first, first), Part(second, alone)
