from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quire.index.finds import Finds
from quire.retrieval.pages import PageWeights, page_bonuses

UNNAMED = np.zeros((3, 2), dtype=np.bool_)
FINDS = Finds(
    cosine=np.zeros(3),
    bm25=np.zeros(3),
    weights=np.array([[1.0, 0.0], [0.0, 2.0], [1.5, 0.0]]),
    idf=np.array([1.0, 3.0]),
    headings=UNNAMED,
    section=UNNAMED,
    path=UNNAMED,
    opens=np.zeros(3, np.bool_),
    page=np.array([7, 7, 4]),
    twin=np.arange(3),
    nearest=3,
    vectors=lambda rows: np.zeros((len(rows), 2), np.float32),
)
CALLED = np.array([0.4, 0.4, 0.0])
NOTHING = PageWeights(agreement=0.0, coverage=0.0, outline=0.0, path=0.0)


def _bonuses(weights: PageWeights, scores: list[float], named: object = UNNAMED) -> list[float]:
    finds = replace(FINDS, section=np.asarray(named))
    return page_bonuses(finds, np.array(scores), CALLED, weights).tolist()


def test_a_page_whose_chunks_agree_is_worth_more_than_one_good_chunk() -> None:
    weights = replace(NOTHING, agreement=1.0, temperature=0.1, others=1.0)
    first, second, alone = _bonuses(weights, [0.7, 0.7, 0.7])
    assert first == second == pytest.approx(0.1 * np.log(2))
    assert alone == 0.0
    far = _bonuses(weights, [0.7, 0.0, 0.7])
    assert 0 < far[0] < 0.001


def test_terms_count_by_what_they_are_worth_wherever_on_the_page_they_stand() -> None:
    weights = replace(NOTHING, coverage=1.0)
    first, _, alone = _bonuses(weights, [0.7, 0.1, 0.7])
    assert first == pytest.approx(1.0)
    assert alone == pytest.approx(0.25)


def test_headings_of_the_page_count_together() -> None:
    named = [[True, False], [False, True], [False, False]]
    first, _, alone = _bonuses(replace(NOTHING, outline=1.0), [0.7, 0.1, 0.7], named)
    assert first == pytest.approx(1.0)
    assert alone == 0.0


def test_chunks_behind_the_best_one_get_a_part_of_it() -> None:
    weights = replace(NOTHING, coverage=1.0, others=0.5)
    assert _bonuses(weights, [0.7, 0.7, 0.7])[:2] == pytest.approx([1.0, 0.5])
    assert _bonuses(weights, [0.6, 0.7, 0.7])[:2] == pytest.approx([0.5, 1.0])


def test_what_a_page_is_called_counts_most_for_its_best_chunk() -> None:
    weights = replace(NOTHING, path=0.25, others=0.5)
    assert _bonuses(weights, [0.7, 0.6, 0.8]) == pytest.approx([0.1, 0.05, 0.0])
