"""The author's view: what readers ask, where the book falls short, how a question is searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from quire.retrieval.calibration import shipped_calibration
from quire.retrieval.confidence import calibrated_level

if TYPE_CHECKING:
    from quire.access.usage import Totals, Usage, UsageDay
    from quire.conversations.review import Asked, Figures, Review
    from quire.embedding.port import Embedder
    from quire.models import Chunk, ConfidenceLevel
    from quire.retrieval import Searcher
    from quire.retrieval.ranking import Candidate
    from quire.wiring.accounts import Accounts

LOOKED_AT = 200
"""How many of the last unanswered questions are grouped."""
ALIKE = 0.8
"""Cosine from which on two questions count as one."""
WEAK = 0.6
"""Answers with less confidence than this are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A question the book doesn't answer, with those that mean the same."""

    question: str
    count: int
    last_asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GapGroup:
    """Unanswered questions under the section that comes nearest; None when none is near."""

    section: Chunk | None
    gaps: tuple[Gap, ...]

    @property
    def count(self) -> int:
        """How often something here was asked."""
        return sum(gap.count for gap in self.gaps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A candidate with its place in each ranking."""

    candidate: Candidate
    rank: int
    dense_rank: int
    bm25_rank: int | None


class AuthorsView:
    """Read-only; what it shows of readers is their questions, never who they are."""

    def __init__(
        self,
        *,
        review: Review,
        usage: Usage,
        accounts: Accounts,
        searcher: Searcher,
        embedder: Embedder,
    ) -> None:
        self._review = review
        self._usage = usage
        self._accounts = accounts
        self._searcher = searcher
        self._embedder = embedder

    async def figures(self, book_id: str | None) -> tuple[Totals, Figures]:
        """Answers, conversations and ratings of a book or of all."""
        await self._accounts.flush()
        return await self._usage.totals(book_id), await self._review.figures(book_id)

    async def usage(self, book_id: str, *, days: int) -> list[UsageDay]:
        """Day by day."""
        await self._accounts.flush()
        return await self._usage.days(book_id, days=days)

    async def weak(
        self, book_id: str, *, limit: int = 100
    ) -> list[tuple[Asked, ConfidenceLevel | None]]:
        """Answers with low confidence or a thumb down, each with its level of confidence."""
        calibration = shipped_calibration(self._embedder.name)
        return [
            (
                asked,
                None
                if asked.confidence is None
                else calibrated_level(asked.confidence, calibration),
            )
            for asked in await self._review.weak(book_id, below=WEAK, limit=limit)
        ]

    async def unanswered(self, book_id: str, *, near: float = 0.3) -> list[GapGroup]:
        """Unanswered questions, similar ones as one, by the section nearest to them."""
        asked = await self._review.unanswered(book_id, limit=LOOKED_AT)
        sections: dict[str, tuple[Chunk | None, list[Gap]]] = {}
        for gap in await self._merged(asked):
            section = await self._nearest(book_id, gap.question, near)
            key = f"{section.source_file}#{section.section_path}" if section else ""
            sections.setdefault(key, (section, []))[1].append(gap)
        groups = [
            GapGroup(section=section, gaps=tuple(sorted(gaps, key=lambda gap: -gap.count)))
            for section, gaps in sections.values()
        ]
        return sorted(groups, key=lambda group: -group.count)

    async def explain(self, book_id: str, query: str, *, limit: int = 10) -> list[Explained]:
        """The best candidates of a question, with what each way of searching said of them."""
        ranked = await self._searcher.candidates(book_id, query, depth=limit)
        dense = _places(ranked, [candidate.cosine for candidate in ranked])
        lexical = _places(ranked, [candidate.bm25 for candidate in ranked])
        return [
            Explained(
                candidate=candidate,
                rank=place,
                dense_rank=dense[candidate.chunk.id],
                bm25_rank=lexical[candidate.chunk.id] if candidate.bm25 > 0 else None,
            )
            for place, candidate in enumerate(ranked[:limit], start=1)
        ]

    async def _merged(self, asked: Sequence[Asked]) -> list[Gap]:
        """Questions that mean the same become one, under its newest wording."""
        if not asked:
            return []
        vectors = await self._embedder.embed_documents([item.question for item in asked])
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        leaders: list[int] = []
        counts: dict[int, int] = {}
        for position in range(len(asked)):
            alike = vectors[leaders] @ vectors[position] if leaders else np.empty(0)
            if alike.size and float(alike.max()) >= ALIKE:
                counts[leaders[int(alike.argmax())]] += 1
            else:
                leaders.append(position)
                counts[position] = 1
        return [
            Gap(
                question=asked[position].question,
                count=counts[position],
                last_asked_at=asked[position].asked_at,
            )
            for position in leaders
        ]

    async def _nearest(self, book_id: str, question: str, near: float) -> Chunk | None:
        ranked = await self._searcher.candidates(book_id, question, depth=1)
        return ranked[0].chunk if ranked and ranked[0].cosine >= near else None


def _places(ranked: Sequence[Candidate], scores: Sequence[float]) -> dict[str, int]:
    order = sorted(range(len(ranked)), key=lambda position: -scores[position])
    return {ranked[position].chunk.id: place for place, position in enumerate(order, start=1)}
