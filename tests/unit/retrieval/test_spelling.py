from __future__ import annotations

import numpy as np

from quire.index.finds import Question, choose_from
from quire.index.lexical import Bm25
from quire.index.port import Candidates, Hit, Terms
from quire.retrieval.spelling import respell, slips, strange_words
from tests.chunks import All, make_chunk

BOOK = (
    "An actor publishes its state to every subscriber.",
    "The publisher and the actors share one scheduler.",
    "Placement groups reserve resources for an actor.",
    "Resources are reserved by the scheduler.",
)


def put_right(query: str, texts: tuple[str, ...] = BOOK) -> str | None:
    hits = [
        Hit(make_chunk(text), 0.5, np.ones(2, dtype=np.float32), Terms.of(v.indices, v.values))
        for text in texts
        for v in [Bm25().document(text)]
    ]
    question = Question.of(query, np.ones(2, dtype=np.float32))
    finds = choose_from(Candidates(tuple(hits), ()), question, All)[0].finds
    return respell(query, strange_words(query, question, finds), texts)


def test_a_slip_in_a_word_is_put_right_by_the_words_of_the_book() -> None:
    for slip in ("schduler", "scheeduler", "scehduler", "schedzler"):
        assert put_right(f"How does the {slip} work?") == "How does the scheduler work?"
    assert put_right("Schduler resuorces?") == "scheduler resources?"


def test_words_the_hits_hold_are_left_alone_in_any_form() -> None:
    assert put_right("actors reserving resources") is None


def test_a_word_that_is_far_from_all_others_is_left_alone() -> None:
    assert put_right("How does photosynthesis work?") is None


def test_a_word_of_one_chunk_alone_and_a_short_one_are_no_reason() -> None:
    assert put_right("What is a subscribr?") is None
    assert put_right("What is an actr?") is None


def test_a_spelling_of_the_other_english_needs_one_chunk_alone() -> None:
    book = ("The quantization of colors near the center.", "It analyzes behavior.")
    right = {
        "quantisation": "quantization",
        "colours": "colors",
        "centre": "center",
        "behaviour": "behavior",
    }
    for british, american in right.items():
        assert put_right(f"What is {british}?", book) == f"What is {american}?"
    assert put_right("What does it analyse?", ("It will analyze.",)) == "What does it analyze?"
    assert put_right("What is color?", ("The colour.",)) == "What is colour?"
    assert put_right("What is quantixation?", book) is None


def test_without_hits_there_is_nothing_to_put_right_by() -> None:
    assert put_right("schduler", ()) is None


def test_slips_are_one_letter_away_and_never_the_word_itself() -> None:
    near = slips("robot")
    assert {"robt", "robbot", "rboot", "rabot"} <= near
    assert "robot" not in near
    assert "rob" not in near


def test_a_question_of_strange_words_alone_is_no_slip() -> None:
    words = " ".join(f"strange{'abcdefghijklmnop'[n]}word" for n in range(13))
    question = Question.of(words, np.ones(2, dtype=np.float32))
    finds = choose_from(Candidates((), ()), question, All)[0].finds
    assert strange_words(words, question, finds) == frozenset()
