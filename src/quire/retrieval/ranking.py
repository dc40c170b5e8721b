"""From two lists of hits to one ranking, and from a ranking to a diverse selection.

A candidate's own score is its cosine plus weighted bonuses: its BM25 score relative to the
best one of the query, and how much of the query its headings name. On documentation a sum
keeps what reciprocal ranks throw away: by how much the best one leads. To that comes what its
page says for it: the right page usually has more than one good chunk (docs/why.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from quire.index.lexical import terms
from quire.index.port import Candidates, Hit, Terms
from quire.models import Chunk
from quire.retrieval.pages import PageWeights, page_bonuses
from quire.retrieval.wording import Wording, word


@dataclass(frozen=True, slots=True)
class Weights:
    """Bonuses beside the cosine, chosen on labelled questions of several books."""

    bm25: float = 0.3
    headings: float = 0.1
    """For the share of the query's terms that the page's title and headings name."""
    section: float = 0.1
    """For the share that the chunk's own heading names."""
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


def rank(
    found: Candidates,
    *,
    query: str,
    vector: NDArray[np.float32],
    weights: Weights,
    limit: int | None = None,
) -> list[Candidate]:
    """The candidates, best first, up to a limit; of chunks with equal text only the best stays."""
    hits = _unique(found)
    if not hits:
        return []
    wording = word(query, found, hits)
    asked = frozenset(wording.terms)
    named = _named(hits, wording)
    cosines = np.stack([_vector(hit) for hit in hits]) @ vector
    headings = np.array([share(asked, h.chunk.page_title, *h.chunk.section_path) for h in hits])
    section = named.sum(axis=1) / max(1, len(asked))
    own = (
        cosines
        + weights.bm25 * wording.bm25
        + weights.headings * headings
        + weights.section * section
    )
    page = page_bonuses(hits, own, wording, named, weights.page)
    scores = own + page
    unique: dict[str, Candidate] = {}
    for i in map(int, np.argsort(-scores, kind="stable")):
        if limit is not None and len(unique) >= limit:
            break
        hit = hits[i]
        if hit.chunk.content_hash not in unique:
            unique[hit.chunk.content_hash] = Candidate(
                chunk=hit.chunk,
                vector=_vector(hit),
                terms=hit.terms,
                cosine=float(cosines[i]),
                bm25=float(wording.bm25[i]),
                headings=float(headings[i]),
                section=float(section[i]),
                page=float(page[i]),
                score=float(scores[i]),
            )
    return list(unique.values())


def share(asked: frozenset[str], *titles: str) -> float:
    """How much of the query's terms these titles name; 0 when the query has none."""
    named = _terms_of(titles)
    return 0.0 if named.isdisjoint(asked) else len(named & asked) / len(asked)


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


def _unique(found: Candidates) -> list[Hit]:
    """Each hit once; those found densely first."""
    hits: dict[str, Hit] = {}
    for hit in (*found.dense, *found.bm25):
        hits.setdefault(hit.chunk.id, hit)
    return list(hits.values())


def _vector(hit: Hit) -> NDArray[np.float32]:
    assert hit.dense is not None, "ranking needs the vectors of the hits"
    return hit.dense


def _named(hits: Sequence[Hit], wording: Wording) -> NDArray[np.bool_]:
    """Which of the query's terms each chunk's own heading names."""
    named = np.zeros((len(hits), len(wording.terms)), dtype=np.bool_)
    for row, hit in enumerate(hits):
        heading = _terms_of((hit.chunk.section_title or hit.chunk.page_title,))
        if not heading.isdisjoint(wording.terms):
            named[row] = [term in heading for term in wording.terms]
    return named


@lru_cache(maxsize=32768)
def _terms_of(titles: tuple[str, ...]) -> frozenset[str]:
    return frozenset(terms(" ".join(titles)))
