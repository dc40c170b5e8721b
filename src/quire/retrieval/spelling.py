"""Mistyped words of a question, put right by the words of the book.

A word that no hit holds is either not in the book or misspelt. If the chunks that lie near in
meaning use a word that is one slip of the finger away (a letter left out, doubled, wrong, or
two swapped), that is what was meant. British and American spellings are such slips too, and
so sure ones that a single chunk is enough.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from quire.index.finds import Finds, Question
from quire.index.lexical import term_id, terms

SHORTEST = 5
"""Letters of a word that is worth putting right; shorter ones have too many neighbours."""
LONGEST = 30
"""Letters of the longest: what lies one slip away grows with the square of the length."""
MOST = 12
"""Words put right in one question; one with more isn't a slip of the finger."""
FEWEST = 2
"""Chunks that must use the right word, unless it is the same word in the other English."""

_WORD = re.compile(rf"\b[A-Za-z]{{{SHORTEST - 1},{LONGEST}}}\b")
"""One letter less than the shortest, since the right word may be shorter."""
_BRITISH = (
    (re.compile(r"(?<=[iy])s(?=(?:e[ds]?|ers?|ing|ations?)\Z)"), "z"),
    (re.compile(r"our(?=(?:s|ed|ing|al)?\Z)"), "or"),
    (re.compile(r"(?<=[bt])re(?=s?\Z)"), "er"),
)
"""Quantisation, analyse, behaviour, centre; the stemmer knows of modelling."""


def strange_words(query: str, question: Question, finds: Finds) -> frozenset[str]:
    """The words that have terms of which no find holds any; none if they are too many."""
    held = frozenset(question.ids[(finds.weights > 0).any(axis=0)].tolist())
    words = {word for word in _WORD.findall(query) if len(word) >= SHORTEST}
    strange = {word for word in words if (ids := _ids(word)) and held.isdisjoint(ids)}
    return frozenset(strange) if len(strange) <= MOST else frozenset()


def respell(query: str, strange: frozenset[str], texts: Iterable[str]) -> str | None:
    """The query with its strange words put right by these texts; None if none can be."""
    vocabulary = _vocabulary(texts)
    meant = {word: _nearest(word.lower(), vocabulary) for word in strange}
    if not any(meant.values()):
        return None
    return _WORD.sub(lambda word: meant.get(word[0]) or word[0], query)


@lru_cache(maxsize=4096)
def _ids(word: str) -> tuple[int, ...]:
    return tuple(term_id(term) for term in terms(word))


def _vocabulary(texts: Iterable[str]) -> Counter[str]:
    """In how many of the texts each word stands."""
    words: Counter[str] = Counter()
    for text in texts:
        words.update(set(_WORD.findall(text.lower())))
    return words


def _nearest(word: str, vocabulary: Counter[str]) -> str | None:
    """The commonest word that is one slip away."""
    near = [
        other
        for other in slips(word).intersection(vocabulary)
        if vocabulary[other] >= FEWEST or _american(other) == _american(word)
    ]
    return max(near, key=lambda other: (vocabulary[other], other), default=None)


def _american(word: str) -> str:
    for ending, other in _BRITISH:
        word = ending.sub(other, word)
    return word


def slips(word: str) -> set[str]:
    """Every text that one slip turns into this word, or this word into."""
    letters = string.ascii_lowercase
    parts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    dropped = {a + b[1:] for a, b in parts if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in parts if len(b) > 1}
    wrong = {a + c + b[1:] for a, b in parts if b for c in letters}
    extra = {a + c + b for a, b in parts for c in letters}
    return (dropped | swapped | wrong | extra) - {word}
