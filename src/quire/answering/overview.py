"""Which sentences of an introduction say what the book, or its subject, is."""

from __future__ import annotations

import re
from typing import Final

from quire.answering import lexicon
from quire.answering.quotable import Unit, units
from quire.models import Chunk

_OF_THE_BOOK: Final = re.compile(
    r"\b(?:this|these|the|our) (?:[\w-]+ ){0,3}"
    r"(?:book|textbook|documentation|docs|course|guide|manual|handbook|site|website|tutorial|"
    r"project)s? (?:\w+ )?"
    r"(?:is|are|has|consists|teach\w*|introduc\w+|cover\w*|explain\w*|show\w*|help\w*|contain\w*|bridge\w*|"
    r"describe\w*|provide\w*|take\w*|walk\w*|will|aims?|gives?)\b|"
    r"\bwelcome to\b(?=(?:\W+\w+){4})|\bin this (?:book|textbook|course|guide)\b|"
    r"\byou(?:'ll| will) (?:learn|build|be able)\b",
    re.IGNORECASE,
)
_OF_ITS_SUBJECT: Final = re.compile(
    r"\W*(?:the )?(?:[\w.+#-]+ ){0,5}[\w.+#-]+ (?:\([^)]{1,40}\) )?"
    r"(?:(?:is|are) (?:an?|the|one of|software|tools?|designed|fundamentally)\b|"
    r"(?:helps?|lets?|allows?|enables?|makes?|provides?|will help) )",
    re.IGNORECASE,
)
_NO_SUBJECT: Final = re.compile(
    r"\W*(?:it|this|that|these|those|there|here|they|you|we|i|if|what|which|who|each|every|note|in|"
    r"on|for|with|when|while|since|please|see|check)\b",
    re.IGNORECASE,
)
_ENDED: Final = re.compile(r"[.!。！][\"'”’»)\]*_]*\Z")
_NOTE: Final = re.compile(r"\W*(?:note|warning|tip|caution|important|info)\b\W*:", re.IGNORECASE)
_LEAST_WORDS: Final = 3


def is_introducing(unit: Unit) -> bool:
    """Whether a sentence says what the book does, or what the thing is that it is about."""
    plain = unit.plain.replace("’", "'")
    if not can_be_said(unit):
        return False
    return bool(_OF_THE_BOOK.search(plain)) or (
        not _NO_SUBJECT.match(plain) and bool(_OF_ITS_SUBJECT.match(plain))
    )


def can_be_said(unit: Unit) -> bool:
    """Whether it is a whole sentence, and no note beside the text."""
    return (
        unit.kind == "sentence"
        and bool(_ENDED.search(unit.plain))
        and len(unit.plain.split()) >= _LEAST_WORDS
        and not _NOTE.match(unit.plain)
    )


def is_introduction(chunk: Chunk) -> bool:
    """Whether a chunk has such a sentence."""
    return any(is_introducing(unit) for unit in units(chunk.markdown, chunk.opening))


def introduces(subject: frozenset[str], chunk: Chunk) -> bool:
    """Whether one of them names the subject."""
    return any(
        subject <= lexicon.content_stems(unit.plain)
        for unit in units(chunk.markdown, chunk.opening)
        if is_introducing(unit)
    )


def is_quotable(chunk: Chunk) -> bool:
    """Whether a chunk has anything but code to quote."""
    return any(unit.kind != "code" for unit in units(chunk.markdown, chunk.opening))
