"""From two lists of hits to one ranking, and from a ranking to a diverse selection.

The rank score of a candidate is its cosine plus weighted bonuses: its BM25 score relative to
the best one of the query, and how much of the query its headings name. On documentation a
sum keeps what reciprocal ranks throw away: by how much the best one leads (docs/why.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.index.lexical import terms
from quire.index.port import Candidates, Hit
from quire.models import Chunk


@dataclass(frozen=True, slots=True)
class Weights:
    """Bonuses beside the cosine, chosen on labelled questions of several books."""

    bm25: float = 0.3
    headings: float = 0.1
    """For the share of the query's terms that the page's title and headings name."""
    section: float = 0.1
    """For the share that the chunk's own heading names."""


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
    score: float
    """What candidates are ranked by."""


def rank(
    found: Candidates, *, query: str, vector: NDArray[np.float32], weights: Weights
) -> list[Candidate]:
    """All candidates, best first; of chunks with equal text only the best stays."""
    hits: dict[str, Hit] = {}
    for hit in (*found.dense, *found.bm25):
        hits.setdefault(hit.chunk.id, hit)
    best = max((hit.score for hit in found.bm25), default=0.0)
    lexical = {hit.chunk.id: hit.score / best for hit in found.bm25} if best > 0 else {}
    asked = frozenset(terms(query))
    candidates = [
        _candidate(hit, vector, lexical.get(hit.chunk.id, 0.0), asked, weights)
        for hit in hits.values()
    ]
    candidates.sort(key=lambda candidate: -candidate.score)
    unique: dict[str, Candidate] = {}
    for candidate in candidates:
        unique.setdefault(candidate.chunk.content_hash, candidate)
    return list(unique.values())


def _candidate(
    hit: Hit,
    vector: NDArray[np.float32],
    bm25: float,
    asked: frozenset[str],
    weights: Weights,
) -> Candidate:
    chunk = hit.chunk
    assert hit.dense is not None, "ranking needs the vectors of the hits"
    cosine = float(vector @ hit.dense)
    headings = share(asked, " ".join((chunk.page_title, *chunk.section_path)))
    section = share(asked, chunk.section_title or chunk.page_title)
    return Candidate(
        chunk=chunk,
        vector=hit.dense,
        cosine=cosine,
        bm25=bm25,
        headings=headings,
        section=section,
        score=cosine
        + weights.bm25 * bm25
        + weights.headings * headings
        + weights.section * section,
    )


def share(asked: frozenset[str], text: str) -> float:
    """How much of the query's terms a text names; 0 when the query has none."""
    return len(asked.intersection(terms(text))) / len(asked) if asked else 0.0


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
