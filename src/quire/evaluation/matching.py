"""When a text counts as holding an answer, and a passage as lying in a section."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from quire.models import Chunk

_CITATION = re.compile(r"\[\d+\]")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NO_WORD = re.compile(r"[^\w%]+")
_IDEOGRAPH = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])")
_ARTICLES = frozenset({"a", "an", "the"})


def words_of(text: str) -> list[str]:
    """Lower-case words without citation marks, markup, punctuation and articles.

    Each ideograph is a word: Chinese and Japanese don't put spaces between theirs.
    """
    text = _LINK.sub(r"\1", _CITATION.sub(" ", text))
    text = unicodedata.normalize("NFKC", text).lower().replace("_", " ")
    text = _IDEOGRAPH.sub(r" \1 ", text)
    return [word for word in _NO_WORD.split(text) if word and word not in _ARTICLES]


def contains(text: str, answers: Sequence[str]) -> bool:
    """Whether one of the answers stands in the text, word for word."""
    held = f" {' '.join(words_of(text))} "
    return any(words and f" {' '.join(words)} " in held for words in map(words_of, answers))


def word_recall(text: str, answers: Sequence[str]) -> float:
    """The share of an answer's words that the text holds; the best over all answers."""
    held = Counter(words_of(text))
    best = 0.0
    for answer in answers:
        wanted = Counter(words_of(answer))
        if wanted:
            best = max(best, (wanted & held).total() / wanted.total())
    return best


def slug(text: str) -> str:
    """A heading or an anchor in one spelling, whatever made the anchor."""
    text = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"[\W_]+", "-", text).strip("-")


def anchor_of(chunk: Chunk) -> str:
    """The anchor of the section a chunk begins in; empty at the top of a page."""
    return chunk.source_url.partition("#")[2]
