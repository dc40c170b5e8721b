from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from quire.index.finds import Question, choose_from, path_ids
from quire.index.lexical import Bm25, term_id
from quire.index.port import Candidates, Hit, Terms
from tests.chunks import All, make_chunk

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


def _question(text: str) -> Question:
    return Question.of(text, np.array([0.6, 0.8], dtype=np.float32))


def test_the_scores_of_the_hits_tell_what_a_term_is_worth() -> None:
    found = Candidates(dense=(), bm25=tuple(hit for hit in _hits("robot encoder") if hit.score > 0))
    question = _question("robot encoder")
    finds = choose_from(found, question, All)[0].finds
    idf = dict(zip(question.terms, finds.idf, strict=True))
    assert idf["encod"] == pytest.approx(math.log(1 + 5.5 / 1.5), abs=1e-4)
    assert idf["robot"] == pytest.approx(math.log(1 + 3.5 / 3.5), abs=1e-4)


def test_a_chunk_that_only_the_dense_search_found_has_its_bm25_score() -> None:
    query = "robot arm"
    hits = _hits(query)
    held_back = hits[1]
    found = Candidates(
        dense=tuple(hits), bm25=tuple(h for h in hits if h.score > 0 and h is not held_back)
    )
    choice, unique = choose_from(found, _question(query), All)
    assert list(unique) == hits
    finds = choice.finds
    assert finds.bm25 == pytest.approx([hit.score for hit in hits], abs=1e-4)
    assert (finds.weights[1] > 0).tolist() == [True, False]
    assert finds.cosine == pytest.approx([1.4] * len(hits))
    assert finds.nearest == len(hits)


def test_without_lexical_hits_or_terms_nothing_is_worth_anything() -> None:
    hits = _hits("robot")
    for query in ("robot", "of the"):
        question = _question(query)
        finds = choose_from(Candidates(dense=tuple(hits), bm25=()), question, All)[0].finds
        assert not finds.bm25.any()
        assert not finds.idf.any()
        assert finds.weights.shape == (len(hits), len(question.terms))


def test_headings_pages_and_equal_texts_are_told() -> None:
    def hit(number: int, **fields: Any) -> Hit:
        return replace(_hits("")[number], chunk=make_chunk(f"text {number}", **fields))

    hits = (
        hit(0, parent_doc_id="a", content_hash="x", page_title="Robots", section_title="The arm"),
        hit(1, parent_doc_id="b", content_hash="x", page_title="Arms", section_path=("Robot",)),
        hit(2, parent_doc_id="a", content_hash="y", page_title="Wheels", section_title=None),
    )
    finds = choose_from(Candidates(hits, ()), _question("robot arm"), All)[0].finds
    assert finds.headings.tolist() == [[True, False], [True, True], [False, False]]
    assert finds.section.tolist() == [[False, True], [False, True], [False, False]]
    assert finds.page.tolist() == [0, 1, 0]
    assert not finds.path.any()
    assert finds.twin.tolist() == [0, 0, 1]


def test_what_was_chosen_comes_back_in_the_order_of_the_choice() -> None:
    @dataclass
    class Last:
        rows: list[int]

    hits = tuple(_hits("robot"))
    choice, chosen = choose_from(
        Candidates(hits, hits[:2]), _question("robot"), lambda finds: Last([len(finds) - 1, 0])
    )
    assert choice.rows == [5, 0]
    assert chosen == (hits[5], hits[0])


def test_a_path_is_the_names_of_its_folders_and_file() -> None:
    def terms(path: str, asked: str) -> list[str]:
        held = path_ids(path)
        return [term for term in asked.split() if term_id(term) in held]

    assert terms("train/user-guides/using-gpus.md", "train user guid use gpu md") == [
        *("train", "user", "guid", "use", "gpu")
    ]
    assert terms("module-1-ros2/01_digital.mdx", "modul 1 ros2 01 digit") == [
        "modul",
        "ros2",
        "digit",
    ]
    assert terms("README", "readm") == ["readm"]
