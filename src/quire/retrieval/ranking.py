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
from quire.index.port import Candidates, Hit
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
    found: Candidates, *, query: str, vector: NDArray[np.float32], weights: Weights
) -> list[Candidate]:
    """All candidates, best first; of chunks with equal text only the best stays."""
    hits = _unique(found)
    if not hits:
        return []
    wording = word(query, found, hits)
    asked = frozenset(wording.terms)
    cosines = _vectors(hits) @ vector
    headings = np.array([share(asked, _headings(hit.chunk)) for hit in hits])
    section = np.array([share(asked, _own_heading(hit.chunk)) for hit in hits])
    own = (
        cosines
        + weights.bm25 * wording.bm25
        + weights.headings * headings
        + weights.section * section
    )
    page = page_bonuses(hits, own, wording, _named(hits, wording), weights.page)
    scores = own + page
    unique: dict[str, Candidate] = {}
    for i in map(int, np.argsort(-scores, kind="stable")):
        hit = hits[i]
        candidate = Candidate(
            chunk=hit.chunk,
            vector=_vector(hit),
            cosine=float(cosines[i]),
            bm25=float(wording.bm25[i]),
            headings=float(headings[i]),
            section=float(section[i]),
            page=float(page[i]),
            score=float(scores[i]),
        )
        unique.setdefault(hit.chunk.content_hash, candidate)
    return list(unique.values())


def share(asked: frozenset[str], text: str) -> float:
    """How much of the query's terms a text names; 0 when the query has none."""
    return len(asked & _terms_of(text)) / len(asked) if asked else 0.0


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


def _vectors(hits: Sequence[Hit]) -> NDArray[np.float32]:
    return np.stack([_vector(hit) for hit in hits])


def _vector(hit: Hit) -> NDArray[np.float32]:
    assert hit.dense is not None, "ranking needs the vectors of the hits"
    return hit.dense


def _named(hits: Sequence[Hit], wording: Wording) -> NDArray[np.bool_]:
    """Which of the query's terms each chunk's own heading names."""
    named = np.zeros((len(hits), len(wording.terms)), dtype=np.bool_)
    for row, hit in enumerate(hits):
        heading = _terms_of(_own_heading(hit.chunk))
        named[row] = [term in heading for term in wording.terms]
    return named


def _headings(chunk: Chunk) -> str:
    return " ".join((chunk.page_title, *chunk.section_path))


def _own_heading(chunk: Chunk) -> str:
    return chunk.section_title or chunk.page_title


@lru_cache(maxsize=32768)
def _terms_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))
