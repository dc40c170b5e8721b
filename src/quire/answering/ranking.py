"""Ranking: how well each unit of the excerpts answers the question."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from quire.answering import definitions, guard, lexicon, quotable
from quire.answering.intent import Intent
from quire.answering.ports import Excerpt
from quire.answering.quotable import Unit
from quire.embedding.port import Embedder
from quire.reading import Evidence, Reader, Reading
from quire.retrieval.calibration import sigmoid

_MAX_EMBEDDED: Final = 64
_BECAUSE: Final = re.compile(
    r"\b(?:because|since|so that|therefore|reason|due to|in order to|thus|otherwise|prevents?|"
    r"avoids?|ensures?|allows?|lets|without|helps?|this means|which means)\b",
    re.IGNORECASE,
)
_TIME: Final = re.compile(
    r"\b(?:1\d{3}|20\d{2}|\d+(?:st|nd|rd|th)|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|century|before|after|during)\b",
    re.IGNORECASE,
)
_PERSON: Final = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_DIGIT: Final = re.compile(r"\d")
_CONTRAST: Final = re.compile(
    r"\b(?:whereas|while|unlike|instead|however|but|rather than|compared|than|differs?|both)\b",
    re.I,
)
_FOR_EXAMPLE: Final = re.compile(r"\b(?:for instance|examples?|e\.g\.)(?!\w)", re.IGNORECASE)
_IMPERATIVE: Final = re.compile(
    r"^(?:use|run|add|create|install|set|open|call|write|start|make|put|define|import|configure|"
    r"click|go|build|launch|launching|enable|download|copy|type|source|to|you|first|then|next)\b",
    re.IGNORECASE,
)

_OBJECTIVE: Final = re.compile(
    r"(?:distinguish|explain|identify|describe|understand|contrast|compare|analy[sz]e|evaluate|"
    r"recogni[sz]e|articulate|recall|demonstrate|differentiate)\b",
    re.IGNORECASE,
)
_OUTLINE: Final = re.compile(
    r"\b(?:objectives?|what you(?:'ll| will)|you will learn|outcomes|prerequisites|contents|"
    r"next steps?|what's next|exercises?|quiz|assessment|roadmap|further reading|try with ai)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A unit with its scores; `index` is its place among its excerpt's units."""

    excerpt: Excerpt
    index: int
    unit: Unit
    stems: frozenset[str]
    score: float
    similarity: float
    coverage: float
    """Share of the question's weight that the unit holds."""
    defines: bool = False
    """Whether it says what the thing asked for is."""
    answer: tuple[int, int] | None = None
    """The exact answer in it, as offsets into the excerpt."""
    answerable: float | None = None
    """The reader's log-odds that its excerpt answers."""

    @property
    def raw(self) -> str:
        """The unit as it stands in the source."""
        return self.excerpt.text[self.unit.start : self.unit.end]


@dataclass(frozen=True, slots=True)
class _Blend:
    """Weights of what speaks for a unit: the log-odds that it is the answer (docs/why.md)."""

    evidence: float = 0.18
    span: float = 0.17
    length: float = 0.15
    """Of the logarithm of its words."""
    relevance: float = 0.25
    """Of the log-odds of the excerpt's relevance."""
    rank: float = -0.19
    """For each excerpt before its own."""
    held: float = 0.62
    near: float = 0.76
    cues: float = 8.5
    table: float = 0.5
    """Rows of a table are read one by one; a few words each hold less evidence."""
    scale: float = 5.0
    """Log-odds by which a unit is worse than the best when its score is 1/e of it."""


_BLEND: Final = _Blend()


class Ranker:
    """Scores units by a reader where there is one, else by meaning and words."""

    def __init__(self, *, embedder: Embedder | None, reader: Reader | None) -> None:
        self._embedder = embedder
        self._reader = reader

    async def rank(
        self, question: str, intent: Intent, excerpts: Sequence[Excerpt]
    ) -> list[Ranked]:
        """All units in document order, with scores; in threads, since a text may have thousands."""
        units, coverages = await asyncio.to_thread(self._units, intent, excerpts)
        if not units:
            return []
        if self._reader:
            readings = await self._reader.read(question, [e.readable for e in excerpts])
            read = {e.number: each for e, each in zip(excerpts, readings, strict=True)}
            return await asyncio.to_thread(self._by_reading, intent, units, coverages, read)
        similarities = await self._similarities(question, units, coverages)
        return [
            _ranked(
                excerpt,
                index,
                unit,
                intent,
                score=0.30 * held
                + 0.15 * near
                + 0.10 * excerpt.score
                + 0.45 * (cosine if self._embedder else held)
                + _cues(excerpt, unit, intent),
                similarity=cosine,
                coverage=held,
            )
            for (excerpt, index, unit), (held, near), cosine in zip(
                units, coverages, similarities, strict=True
            )
        ]

    def _units(
        self, intent: Intent, excerpts: Sequence[Excerpt]
    ) -> tuple[list[tuple[Excerpt, int, Unit]], list[tuple[float, float]]]:
        """All units with their places, and the coverage of each."""
        units = [(e, i, unit) for e in excerpts for i, unit in enumerate(_quotable(e))]
        weights = _weights(intent, [unit for _, _, unit in units])
        return units, [self._coverage(e, unit, intent, weights) for e, _, unit in units]

    def _by_reading(
        self,
        intent: Intent,
        units: Sequence[tuple[Excerpt, int, Unit]],
        coverages: Sequence[tuple[float, float]],
        read: dict[int, Reading],
    ) -> list[Ranked]:
        found = [_evidence(read[excerpt.number], excerpt, unit) for excerpt, _, unit in units]
        places = {number: place for place, number in enumerate(read)}
        logits = [
            self._logit(excerpt, unit, intent, evidence, coverage)
            + _BLEND.rank * places[excerpt.number]
            for (excerpt, _, unit), evidence, coverage in zip(units, found, coverages, strict=True)
        ]
        best = max(logits)
        return [
            _ranked(
                excerpt,
                index,
                unit,
                intent,
                score=math.exp((logit - best) / _BLEND.scale),
                similarity=sigmoid(read[excerpt.number].answerable),
                coverage=held,
                answer=evidence.answer if evidence else None,
                answerable=read[excerpt.number].answerable,
            )
            for (excerpt, index, unit), logit, evidence, (held, _) in zip(
                units, logits, found, coverages, strict=True
            )
        ]

    def _logit(
        self,
        excerpt: Excerpt,
        unit: Unit,
        intent: Intent,
        evidence: Evidence | None,
        coverage: tuple[float, float],
    ) -> float:
        if evidence is None:
            return -50.0
        held, near = coverage
        relevance = min(max(excerpt.score, 0.001), 0.999)
        return (
            _BLEND.evidence * evidence.mean
            + _BLEND.span * evidence.span
            + _BLEND.length * math.log(1 + len(unit.plain.split()))
            + _BLEND.relevance * math.log(relevance / (1 - relevance))
            + _BLEND.held * held
            + _BLEND.near * near
            + _BLEND.cues * _cues(excerpt, unit, intent)
            + (_BLEND.table if unit.kind == "table" else 0.0)
        )

    @staticmethod
    def _coverage(
        excerpt: Excerpt, unit: Unit, intent: Intent, weights: dict[str, float]
    ) -> tuple[float, float]:
        """Weighted share of the question's words in the unit, and in the headings around it."""
        total = sum(weights.values()) or 1.0
        own = lexicon.content_stems(unit.plain)
        around = own | lexicon.content_stems(f"{unit.heading} {excerpt.heading} {excerpt.title}")
        held = sum(w for term, w in weights.items() if term in own) / total
        near = sum(w for term, w in weights.items() if term in around) / total
        return held, near

    async def _similarities(
        self,
        question: str,
        units: Sequence[tuple[Excerpt, int, Unit]],
        coverages: Sequence[tuple[float, float]],
    ) -> list[float]:
        """Cosine of question and unit, in one batch; the least likely units are not embedded."""
        similarities = [0.0] * len(units)
        if self._embedder is None:
            return similarities
        order = sorted(
            range(len(units)),
            key=lambda i: (coverages[i][0] + coverages[i][1] + units[i][0].score, -i),
            reverse=True,
        )[:_MAX_EMBEDDED]
        texts = [_with_context(*units[i]) for i in order]
        query = await self._embedder.embed_query(question)
        vectors = await self._embedder.embed_documents(texts)
        for i, cosine in zip(order, np.asarray(vectors @ query, dtype=float), strict=True):
            similarities[i] = float(max(0.0, cosine))
        return similarities


def _ranked(
    excerpt: Excerpt,
    index: int,
    unit: Unit,
    intent: Intent,
    *,
    score: float,
    similarity: float,
    coverage: float,
    answer: tuple[int, int] | None = None,
    answerable: float | None = None,
) -> Ranked:
    return Ranked(
        excerpt=excerpt,
        index=index,
        unit=unit,
        stems=lexicon.content_stems(unit.plain),
        score=score,
        similarity=similarity,
        coverage=coverage,
        defines=definitions.defines(excerpt.text, unit, intent.subject),
        answer=answer,
        answerable=answerable,
    )


def _evidence(reading: Reading, excerpt: Excerpt, unit: Unit) -> Evidence | None:
    """What the reader says of a unit; of code and tables, what it says of their best line."""
    if unit.kind not in ("code", "table"):
        return reading.of(unit.start, unit.end)
    lines: list[Evidence] = []
    start = unit.start
    for line in excerpt.text[unit.start : unit.end].splitlines(keepends=True):
        evidence = reading.of(start, start + len(line)) if len(line.split()) > 1 else None
        lines += [evidence] if evidence else []
        start += len(line)
    return max(lines, key=lambda each: each.mean + each.span, default=None)


def _quotable(excerpt: Excerpt) -> tuple[Unit, ...]:
    orders = guard.commands(excerpt.text)
    return tuple(
        unit
        for unit in quotable.units(excerpt.text, excerpt.opening)
        if not any(a < unit.end and unit.start < b for a, b in orders)
    )


def _with_context(excerpt: Excerpt, _index: int, unit: Unit) -> str:
    heading = unit.heading or excerpt.heading
    return f"{heading}: {unit.plain[:600]}" if heading else unit.plain[:600]


def _weights(intent: Intent, units: Sequence[Unit]) -> dict[str, float]:
    """Rare words of the question weigh more: IDF over the units at hand."""
    seen = Counter(term for unit in units for term in lexicon.content_stems(unit.plain))
    return {term: math.log(1.0 + (len(units) + 1.0) / (seen[term] + 1.0)) for term in intent.terms}


def _outlining(excerpt: Excerpt, unit: Unit, text: str) -> float:
    """What speaks against a unit that says what the book does, instead of its subject."""
    malus = 0.0
    if definitions.ANNOUNCES.search(text):
        malus += 0.15
    if unit.kind != "sentence" and _OBJECTIVE.match(text):
        malus += 0.15
    if _OUTLINE.search((unit.heading or excerpt.heading).replace("’", "'")):
        malus += 0.2
    return malus


def _cues(excerpt: Excerpt, unit: Unit, intent: Intent) -> float:
    """What the wording says for or against a unit as this kind of answer."""
    text, bonus = unit.plain.replace("’", "'"), 0.0
    count = len(text.split())
    if unit.kind in ("sentence", "item", "step"):
        bonus -= 0.08 if count < 5 else 0.0
        bonus -= 0.05 if count > 60 else 0.0
        bonus -= 0.10 if text.endswith("?") else 0.0
    if unit.kind == "lead":
        bonus -= 0.15
    if not intent.of_itself:
        bonus -= _outlining(excerpt, unit, text)
    match intent.kind:
        case "definition" if definitions.defines(excerpt.text, unit, intent.subject):
            bonus += 0.18
        case "number":
            bonus += 0.10 if _DIGIT.search(text) or lexicon.numbers(text) - {"1"} else -0.05
        case "why" if _BECAUSE.search(text):
            bonus += 0.08
        case "howto":
            bonus += 0.06 if unit.kind == "step" or _IMPERATIVE.match(text) else 0.0
            bonus += 0.03 if unit.kind == "code" else 0.0
        case "code":
            bonus += 0.15 if unit.kind == "code" else 0.03 if "`" in text else 0.0
        case "example":
            bonus += 0.15 if unit.kind == "code" else 0.0
            bonus += 0.05 if _FOR_EXAMPLE.search(text) else 0.0
        case "comparison":
            bonus += 0.05 if _CONTRAST.search(text) else 0.0
            bonus += 0.05 if unit.kind == "table" else 0.0
        case "list":
            bonus += 0.05 if unit.kind in ("item", "step") else 0.0
        case _:
            pass
    if intent.expects == "time" and _TIME.search(text):
        bonus += 0.08
    if intent.expects == "person" and _PERSON.search(text[1:]):
        bonus += 0.04
    if unit.kind in ("code", "table") and intent.kind not in (
        "code",
        "example",
        "howto",
        "comparison",
        "list",
    ):
        bonus -= 0.12
    return bonus
