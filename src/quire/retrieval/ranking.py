"""From two lists of hits to one ranking, and from a ranking to a diverse selection.

A candidate's own score is its cosine plus weighted bonuses: its BM25 score relative to the
best one of the query, and how much of the query its headings name. On documentation a sum
keeps what reciprocal ranks throw away: by how much the best one leads. To that comes what its
page says for it: the right page usually has more than one good chunk. Among the best, what
their pages scatter along counts less (docs/why.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from quire.index.finds import Finds
from quire.index.port import Hit, Terms
from quire.models import Chunk
from quire.retrieval.directions import whitened
from quire.retrieval.pages import PageWeights, page_bonuses

_ALL = 1.0 - 1e-9
_TOLD_APART = 48
"""Candidates whose cosines are taken again; what lies behind them hardly comes among the first."""
_SHOWN = 5
"""Of these the scores stay the same on average: the confidence goes by how high they are."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Bonuses beside the cosine, chosen on labelled questions of several books."""

    bm25: float = 0.3
    headings: float = 0.1
    """For the share of the query's terms that the page's title and headings name; here and
    below a rare term is a larger share of the query than a common one."""
    section: float = 0.1
    """For the share that the chunk's own heading names."""
    opening: float = 0.2
    """For the beginning of a page whose title or headings name all of the query: what a thing is
    stands where its page begins."""
    apart: float = 0.5
    """How much of the cosine is taken by what tells pages apart, among the best."""
    page: PageWeights = field(default_factory=PageWeights)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk found by at least one way of searching, with what each said of it."""

    chunk: Chunk
    vector: NDArray[np.float32]
    terms: Terms | None
    cosine: float
    bm25: float
    """Relative to the best of the query: 0–1."""
    headings: float
    section: float
    page: float
    """What the page adds."""
    score: float
    """What candidates are ranked by."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """The finds in order, each with what it was ranked by."""

    rows: tuple[int, ...]
    """Best first, up to the limit; of chunks with equal text only the best."""
    finds: Finds
    bm25: NDArray[np.float64]
    headings: NDArray[np.float64]
    section: NDArray[np.float64]
    page: NDArray[np.float64]
    score: NDArray[np.float64]

    def candidates(self, hits: Sequence[Hit]) -> list[Candidate]:
        """The chosen rows with their chunks."""
        return [
            Candidate(
                chunk=hit.chunk,
                vector=_vector(hit),
                terms=hit.terms,
                cosine=float(self.finds.cosine[row]),
                bm25=float(self.bm25[row]),
                headings=float(self.headings[row]),
                section=float(self.section[row]),
                page=float(self.page[row]),
                score=float(self.score[row]),
            )
            for row, hit in zip(self.rows, hits, strict=True)
        ]


def rank(finds: Finds, weights: Weights, limit: int | None = None) -> Ranking:
    """Order the finds by what they and their pages say."""
    best = float(finds.bm25.max(initial=0.0))
    bm25 = np.clip(finds.bm25 / best, 0.0, 1.0) if best > 0 else np.zeros(len(finds))
    share = _shares(finds.idf)
    headings, section = finds.headings @ share, finds.section @ share
    own = (
        finds.cosine + weights.bm25 * bm25 + weights.headings * headings + weights.section * section
    )
    own += weights.opening * (finds.opens & (headings > _ALL))
    if weights.apart:
        own += weights.apart * _told_apart(finds, own)
    page = page_bonuses(finds, own, finds.path @ share, weights.page)
    score = own + page
    rows: dict[int, int] = {}
    for row in map(int, np.argsort(-score, kind="stable")):
        if limit is not None and len(rows) >= limit:
            break
        rows.setdefault(int(finds.twin[row]), row)
    return Ranking(tuple(rows.values()), finds, bm25, headings, section, page, score)


def _told_apart(finds: Finds, own: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much the best ones are nearer or farther by what tells their pages apart."""
    change = np.zeros(len(finds))
    best = np.argsort(-own, kind="stable")[:_TOLD_APART]
    if len(best):
        vectors = finds.vectors(best)
        # Not a matrix product: it would take every core and spin.
        alike = np.vecdot(vectors[:, None], vectors[None]).astype(np.float64)
        cosine = finds.cosine[best]
        change[best] = whitened(alike, cosine, finds.page[best]) - cosine
        change[best] -= change[best[:_SHOWN]].mean()
    return change


def _shares(idf: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much of the question each of its terms is.

    By the root of the IDF: by the IDF itself one rare word of a long question would be all
    that counts. A term that no found text holds is as rare as the rarest of the others.
    """
    rarest = float(idf.max(initial=0.0)) or 1.0
    worth = np.sqrt(np.where(idf > 0, idf, rarest))
    return worth / worth.sum() if len(worth) else worth


def diversify(candidates: Sequence[Candidate], *, limit: int, relevance: float) -> list[Candidate]:
    """Maximal marginal relevance: each next one is good and unlike those already taken.

    `relevance` of 1 keeps the ranking as it is; 0 cares about difference alone.
    """
    if relevance >= 1.0 or len(candidates) <= 1:
        return list(candidates[:limit])
    rest = list(candidates)
    chosen = [rest.pop(0)]
    nearest = np.array([float(chosen[0].vector @ c.vector) for c in rest])
    while rest and len(chosen) < limit:
        scores = np.array([c.score for c in rest])
        position = int(np.argmax(relevance * scores - (1 - relevance) * nearest))
        taken = rest.pop(position)
        chosen.append(taken)
        nearest = np.delete(nearest, position)
        if rest:
            similarity = np.array([float(taken.vector @ c.vector) for c in rest])
            nearest = np.maximum(nearest, similarity)
    return chosen


def _vector(hit: Hit) -> NDArray[np.float32]:
    assert hit.dense is not None, "a chosen hit has its vector"
    return hit.dense
