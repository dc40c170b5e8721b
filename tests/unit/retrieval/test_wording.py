from __future__ import annotations

import math

import numpy as np
import pytest

from quire.index.lexical import Bm25
from quire.index.port import Candidates, Hit, Terms
from quire.retrieval.wording import word
from tests.chunks import make_chunk

BOOK = [
    "The robot arm moves",
    "A robot drives on wheels",
    "A robot sees with a camera",
    "The arm holds a gripper and an encoder",
    "Wheels turn",
    "Nothing of the kind",
]


def _hits(query: str) -> list[Hit]:
    """Every text as a hit, with the BM25 score a store would give."""
    documents = [Bm25().document(text) for text in BOOK]
    asked = Bm25().query(query).indices
    idf = {
        term: math.log(1 + (len(BOOK) - n + 0.5) / (n + 0.5))
        for term in asked
        for n in [sum(term in document.indices for document in documents)]
    }
    return [
        Hit(
            make_chunk(text),
            sum(
                value * idf.get(term, 0.0)
                for term, value in zip(document.indices, document.values, strict=True)
            ),
            np.ones(2, dtype=np.float32),
            Terms.of(document.indices, document.values),
        )
        for text, document in zip(BOOK, documents, strict=True)
    ]


def test_the_scores_of_the_hits_tell_what_a_term_is_worth() -> None:
    hits = _hits("robot encoder")
    found = Candidates(dense=(), bm25=tuple(hit for hit in hits if hit.score > 0))
    wording = word("robot encoder", found, hits)
    worth = dict(zip(wording.terms, wording.worth, strict=True))
    rare, common = math.log(1 + 5.5 / 1.5), math.log(1 + 3.5 / 3.5)
    assert worth["encod"] == pytest.approx(rare / (rare + common), abs=1e-4)
    assert sum(worth.values()) == pytest.approx(1.0)


def test_a_chunk_that_only_the_dense_search_found_has_its_bm25_score() -> None:
    query = "robot arm"
    hits = _hits(query)
    held_back = hits[1]
    found = Candidates(
        dense=tuple(hits), bm25=tuple(h for h in hits if h.score > 0 and h is not held_back)
    )
    wording = word(query, found, hits)
    best = max(hit.score for hit in hits)
    assert wording.bm25 == pytest.approx([hit.score / best for hit in hits], abs=1e-4)
    assert wording.held[1].tolist() == [True, False]


def test_without_lexical_hits_or_terms_nothing_is_worth_anything() -> None:
    hits = _hits("robot")
    for query in ("robot", "of the"):
        wording = word(query, Candidates(dense=tuple(hits), bm25=()), hits)
        assert not wording.bm25.any()
        assert not wording.worth.any()
        assert wording.held.shape == (len(hits), len(wording.terms))
