"""What a sentence says that something *is*: such a claim needs a sentence of the book that says so.

The words of "actions are services" may all stand in a quote that tells the two apart. So who is
called what is looked up as a relation, not as words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from quire.answering import lexicon

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?|[:;,()|—–]")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+")
_CLAUSE: Final = re.compile(r"[,;:()—–]|\b(?:but|because|although|while|whereas|and|or)\b")
_BE: Final = frozenset("is are was were be".split())
_LINKS: Final = _BE | frozenset(
    "mean means called named known as such like include includes including : ( | — –".split()
)
_ENDS: Final = frozenset(
    "of from by with to in on at for than without instead between over through into via under "
    "unlike not no never that which who whom whose when where if because".split()
)
"""Behind these a noun phrase is over, or another thing is spoken of."""
_FILLING: Final = frozenset(
    "a an the this these its their your our only also just often usually always either both "
    "another one some all simply really typically".split()
)
_PARTICIPLE: Final = re.compile(r".{2,}(?:ed|ing|en|wn)\Z")
_VERBAL: Final = frozenset(
    "made built sent set read run done kept held left put cut bound found meant sold told "
    "able available possible".split()
)
"""Words behind "to be" that say what happens, like a participle does."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """`subject` is `what`, in stems; the subject of a pronoun is empty."""

    subject: frozenset[str]
    what: tuple[str, ...]


def unproven(sentence: str, evidence: str) -> bool:
    """Whether the sentence says of something what it is, and the evidence doesn't."""
    told = [_tokens(each) for each in _SENTENCE.split(evidence)]
    for claim in _claims(sentence):
        if claim.subject and claim.subject <= set(claim.what):
            return True  # it is itself
        if not any(_tells(tokens, claim) for tokens in told):
            return True
    return False


def _claims(sentence: str) -> Iterator[_Claim]:
    for clause in _CLAUSE.split(sentence):
        words = lexicon.words(clause)
        marks = [at for at, word in enumerate(words) if word in _BE]
        for at, end in pairwise([*marks, len(words)]):
            begin = max((mark + 1 for mark in marks if mark < at), default=0)
            phrase = _phrase(words[at + 1 : end])
            if phrase and words[at - 1 : at] != ["there"]:
                yield _Claim(lexicon.content_stems(" ".join(words[begin:at])), phrase)


def _phrase(words: Sequence[str]) -> tuple[str, ...]:
    """The stems of the noun phrase or adjective behind a form of "to be"; empty for a verb."""
    found: list[str] = []
    for word in words:
        if word in _ENDS:
            break
        if word in _FILLING or word.endswith("ly"):
            continue
        if not found and (word in _VERBAL or _PARTICIPLE.match(word)):
            break
        found += lexicon.content_stems(word)
    return tuple(found)


def _tokens(text: str) -> list[str]:
    found = (match.group().lower().replace("’", "'") for match in _TOKEN.finditer(text))
    return [token for token in found if token not in _FILLING]


def _tells(tokens: Sequence[str], claim: _Claim) -> bool:
    """Whether one sentence of the book has the subject and, linked to it, what it is said to be."""
    stems = [lexicon.stem(token) for token in tokens]
    heads = [at for at, each in enumerate(stems) if each == claim.what[-1]]
    subjects = [at for at, each in enumerate(stems) if each in claim.subject]
    if not subjects:
        return any(_links(tokens, 0, head) for head in heads)
    return any(
        abs(head - subject) == 1 or _links(tokens, min(head, subject), max(head, subject))
        for head in heads
        for subject in subjects
        if head != subject
    )


def _links(tokens: Sequence[str], start: int, end: int) -> bool:
    """Whether a linking word stands between, and nothing behind it that leads elsewhere."""
    between = tokens[start:end]
    links = [at for at, token in enumerate(between) if token in _LINKS]
    return any(not _ENDS.intersection(between[link + 1 :]) for link in links)
