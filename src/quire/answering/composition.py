"""Composition: proven sentences become the answer's text, piece by piece, with their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quire.answering.citations import Ledger
from quire.answering.events import SentenceReady
from quire.answering.quotable import UnitKind
from quire.answering.verification import Proven
from quire.models import Citation, Passage, Sentence

_LISTED = ("item", "step")
_BLOCKS = ("code", "table")
_MARGIN = "   "
"""Enough below `-` and below `1.`, and not yet code."""


class Composer:
    """Builds one answer; the pieces it returns add up to `text`."""

    def __init__(self, *, opening: str = "") -> None:
        self._ledger = Ledger()
        self._opening = opening
        self._pieces: list[str] = []
        self._sentences: list[Sentence] = []
        self._kind: UnitKind | None = None
        self._indents: list[int] = []
        """Of the open lists, outermost first."""

    @property
    def text(self) -> str:
        """The answer so far, as Markdown."""
        return "".join(self._pieces)

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """What has been said, each with the numbers of its citations."""
        return tuple(self._sentences)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Every citation used, by number."""
        return self._ledger.citations

    def admit(self, passages: Sequence[Passage]) -> None:
        """Passages that may be cited from now on."""
        self._ledger.admit(passages)

    def add(self, proven: Proven) -> SentenceReady | None:
        """The next piece to send; None if the answer says it already."""
        if any(_same(proven.text, said.text) for said in self._sentences):
            return None
        citations = tuple(self._ledger.enter(quote) for quote in proven.quotes)
        numbers = tuple(dict.fromkeys(citation.number for citation in citations))
        sentence = Sentence(text=proven.text, citations=numbers)
        marks = "".join(f"[{number}]" for number in numbers)
        joint = "\n\n" if proven.kind in _BLOCKS else " "
        margin = self._margin(proven)
        piece = f"{self._separator(proven.kind)}{margin}{proven.text}{joint}{marks}"
        self._sentences.append(sentence)
        self._pieces.append(piece)
        self._kind = proven.kind
        return SentenceReady(text=piece, citations=citations, sentence=sentence)

    def close(self, words: str) -> SentenceReady:
        """Words that claim nothing of the book, in a paragraph of their own."""
        piece = f"\n\n{words}"
        self._pieces.append(piece)
        return SentenceReady(text=piece)

    def _separator(self, kind: UnitKind) -> str:
        if self._kind is None:
            return f"{self._opening}\n\n" if self._opening else ""
        if kind in _LISTED and self._kind in _LISTED:
            return "\n"
        if kind in ("sentence", "lead") and self._kind == "sentence":
            return " "
        return "\n\n"

    def _margin(self, proven: Proven) -> str:
        """What stands before an entry of a list inside a list."""
        if proven.kind not in _LISTED or self._kind not in _LISTED:
            self._indents = []
        while self._indents and self._indents[-1] > proven.indent:
            self._indents.pop()
        if not self._indents or self._indents[-1] < proven.indent:
            self._indents.append(proven.indent)
        return _MARGIN * (len(self._indents) - 1)


def _same(one: str, other: str) -> bool:
    return re.sub(r"\W+", " ", one).strip() == re.sub(r"\W+", " ", other).strip()
