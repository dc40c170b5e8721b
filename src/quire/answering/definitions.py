"""Which sentences say what a thing is."""

from __future__ import annotations

import re
from typing import Final

from quire.answering import lexicon
from quire.answering.quotable import Unit

ANNOUNCES: Final = re.compile(
    r"\b(?:in this (?:chapter|lesson|section|module|tutorial|guide|part|page|course)|"
    r"by the end\b|welcome to|you(?:'ll| will) (?:learn|write|create|build|understand|be able|"
    r"have|see|explore|discover|need to know)|"
    r"we(?:'ll| will) (?:also |just |now |next )?(?:learn|see|explore|look|cover|talk|discuss|"
    r"examine|return)|"
    r"until now|so far|you(?:'ve| have) (?:explored|seen|learned)|before you can|"
    r"now that (?:we|you)|the next (?:chapter|lesson|section)|(?:previous|last) (?:chapter|lesson)|"
    r"let's|"
    r"(?:this|the) (?:chapter|lesson|section|page) (?:explains|shows|covers|explores|describes))\b",
    re.IGNORECASE,
)
"""How a book speaks of what it will do, instead of its subject."""
_DEFINES: Final = r"\s*(?:\([^)]*\)\s*)?(?:is|are|was|means|refers to|stands for|describes|—|–|:)\s"
_CLAUSE: Final = re.compile(
    r"\b(?:that|which|who|whose|what|how|why|when|where|if)\b", re.IGNORECASE
)
_TELLS_NO_KIND: Final = re.compile(
    r"(?:different|similar|not|useful|helpful|available|possible|necessary|important|easy|also|only|"
    r"just|often|usually|always|sometimes|mostly|the same|(?!called)\w+ed\b(?! as\b))\b",
    re.IGNORECASE,
)
"""What stands behind "is" where nothing is said of what the thing is."""
_EMPHASISED: Final = re.compile(
    r"(?<![\w*])(?P<mark>\*{1,3}|_{1,3})(?P<words>[^*_\n]{2,60})(?P=mark)(?![\w*])"
)
"""What a book sets apart where it first says what it is."""
_EXPANSION: Final = re.compile(r"((?:\w[\w-]*\s+){1,6})\(([^()]{2,60})\)")


def defines(source: str, unit: Unit, subject: frozenset[str]) -> bool:
    """Whether a unit of the source says what the subject is, or what its letters stand for."""
    text = unit.plain.replace("’", "'")
    if not subject or unit.kind in ("code", "table") or ANNOUNCES.search(text):
        return False
    for emphasised in _EMPHASISED.finditer(source, unit.start, unit.end):
        if lexicon.content_stems(emphasised["words"]) == subject:
            return True
    for spelled, short in _EXPANSION.findall(text):
        if subject <= lexicon.content_stems(spelled) | lexicon.content_stems(short):
            return True
    head = re.split(_DEFINES, text, maxsplit=1)
    if len(head) < 2 or len(head[0].split()) > 9 or _TELLS_NO_KIND.match(head[1]):
        return False
    return not _CLAUSE.search(head[0]) and subject <= lexicon.content_stems(head[0])
