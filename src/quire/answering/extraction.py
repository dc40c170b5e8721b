"""Extraction: the answer in the book's own words, in the shape that the question wants."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from quire.answering import definitions
from quire.answering.choice import Choice, by_score
from quire.answering.draft import Segment
from quire.answering.intent import Intent, read_intent
from quire.answering.ports import Excerpt
from quire.answering.quotable import without_mark
from quire.answering.ranking import Ranked, Ranker
from quire.embedding.port import Embedder
from quire.reading import Reader

_PRICED: Final = re.compile(
    r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]|\b(?:costs|costing|prices?d?|pricing|pay|paid|free|cheap\w*|"
    r"expensive|dollars?|euros?|USD|EUR|cents?)\b"
    r"|(?<!\bat a )(?<!\bat the )(?<!performance )(?<!runtime )\bcost\b",
    re.IGNORECASE,
)
"""What an answer to "what does it cost?" can't do without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The chosen units as a draft, and how well the best of them fits the question."""

    segments: tuple[Segment, ...]
    similarity: float = 0.0
    coverage: float = 0.0
    answerable: float | None = None
    """The reader's log-odds that the best unit's excerpt answers."""


class Extractor:
    """Chooses whole sentences, lists, code and tables; deterministic, never half a sentence.

    Args:
        embedder: Compares sentences with the question where there is no reader.
        reader: Scores the sentences.
        terse: Say the answer and nothing beside it: for a text that lies before the person.
    """

    def __init__(
        self,
        *,
        embedder: Embedder | None = None,
        reader: Reader | None = None,
        terse: bool = False,
    ) -> None:
        self._ranker = Ranker(embedder=embedder, reader=reader)
        self._terse = terse

    async def extract(self, question: str, excerpts: Sequence[Excerpt]) -> Extract:
        """The answering units in reading order; no segments if nothing fits at all."""
        intent = read_intent(question, of_book=not self._terse)
        ranked = await self._ranker.rank(question, intent, excerpts)
        return await asyncio.to_thread(self._chosen, intent, ranked)

    def _chosen(self, intent: Intent, ranked: Sequence[Ranked]) -> Extract:
        if not ranked:
            return Extract(segments=())
        best = max(ranked, key=by_score)
        nothing = Extract(segments=(), similarity=best.similarity, coverage=best.coverage)
        unlike = best.similarity < 0.2 and best.coverage < 0.25 and best.answer is None
        if unlike and intent.whole is None:
            return nothing
        chosen = Choice(intent, ranked, terse=self._terse).make()
        if not chosen or not self._says_it(intent, chosen, ranked):
            return nothing
        return Extract(
            segments=tuple(
                _segment(unit, alone=_is_alone(i, chosen)) for i, unit in enumerate(chosen)
            ),
            similarity=max(unit.similarity for unit in chosen),
            coverage=max(unit.coverage for unit in chosen),
            answerable=best.answerable,
        )

    def _says_it(self, intent: Intent, chosen: list[Ranked], ranked: Sequence[Ranked]) -> bool:
        """Whether what was chosen has what an answer can't do without."""
        if intent.expects == "price" and not any(_PRICED.search(u.unit.plain) for u in chosen):
            return False
        if intent.subject and not any(intent.subject & unit.stems for unit in chosen):
            return False
        return self._terse or _is_about(intent.subject, chosen, ranked)


def _is_about(subject: frozenset[str], chosen: list[Ranked], ranked: Sequence[Ranked]) -> bool:
    texts = {u.excerpt: f"{u.excerpt.title} {u.excerpt.heading} {u.excerpt.text}" for u in ranked}
    return definitions.is_named(subject, (texts[u.excerpt] for u in chosen), tuple(texts.values()))


def _is_alone(i: int, chosen: Sequence[Ranked]) -> bool:
    """Whether a list entry stands where its bullet would look lost, or its number does."""
    unit = chosen[i]
    around = (*chosen[max(0, i - 1) : i], *chosen[i + 1 : i + 2])
    return not any(
        other.unit.kind in ("item", "step", "lead")
        and (other.excerpt.number, other.unit.block) == (unit.excerpt.number, unit.unit.block)
        and (unit.unit.kind != "step" or abs(other.index - unit.index) == 1)
        for other in around
    )


def _segment(unit: Ranked, *, alone: bool) -> Segment:
    highlight = unit.excerpt.text[slice(*unit.answer)] or None if unit.answer else None
    listed = unit.unit.kind in ("item", "step")
    text = without_mark(unit.raw) if alone and listed else unit.raw
    return Segment(text=text, passages=(unit.excerpt.number,), highlight=highlight)
