from __future__ import annotations

import numpy as np

from quire.index.lexical import Bm25
from quire.index.port import Candidates, Hit, Terms
from quire.retrieval.spelling import respell, slips
from tests.chunks import make_chunk


def found(*texts: str) -> Candidates:
    hits = [
        Hit(make_chunk(text), 0.5, np.ones(2, dtype=np.float32), Terms.of(v.indices, v.values))
        for text in texts
        for v in [Bm25().document(text)]
    ]
    return Candidates(dense=tuple(hits), bm25=())


BOOK = found(
    "An actor publishes its state to every subscriber.",
    "The publisher and the actors share one scheduler.",
    "Placement groups reserve resources for an actor.",
    "Resources are reserved by the scheduler.",
)


def test_a_slip_in_a_word_is_put_right_by_the_words_of_the_book() -> None:
    for slip in ("schduler", "scheeduler", "scehduler", "schedzler"):
        assert respell(f"How does the {slip} work?", BOOK) == "How does the scheduler work?"
    assert respell("Schduler resuorces?", BOOK) == "scheduler resources?"


def test_words_the_hits_hold_are_left_alone_in_any_form() -> None:
    assert respell("actors reserving resources", BOOK) is None


def test_a_word_that_is_far_from_all_others_is_left_alone() -> None:
    assert respell("How does photosynthesis work?", BOOK) is None


def test_a_word_of_one_chunk_alone_and_a_short_one_are_no_reason() -> None:
    assert respell("What is a subscribr?", BOOK) is None
    assert respell("What is an actr?", BOOK) is None


def test_without_hits_there_is_nothing_to_put_right_by() -> None:
    assert respell("schduler", Candidates((), ())) is None


def test_slips_are_one_letter_away_and_never_the_word_itself() -> None:
    near = slips("robot")
    assert {"robt", "robbot", "rboot", "rabot"} <= near
    assert "robot" not in near
    assert "rob" not in near
