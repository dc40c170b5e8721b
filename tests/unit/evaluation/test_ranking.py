from __future__ import annotations

import math

import pytest

from quire.evaluation.ranking import MEASURES, score_rankings


def test_measures_are_those_computed_by_hand() -> None:
    """Relevant a, b; found x, a, y, b, so DCG = 1/log2(3) + 1/log2(5), ideal 1 + 1/log2(3)."""
    values = score_rankings({"q": ["a", "b"]}, {"q": ["x", "a", "y", "b"]})
    ideal = 1 + 1 / math.log2(3)
    assert values["ndcg@10"]["q"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert values["mrr@10"]["q"] == pytest.approx(1 / 2)
    assert values["recall@1"]["q"] == 0
    assert values["recall@5"]["q"] == 1
    assert values["recall@10"]["q"] == 1


def test_what_stands_below_the_tenth_rank_counts_for_nothing() -> None:
    ranking = [f"x{n}" for n in range(10)] + ["a"]
    values = score_rankings({"q": ["a"]}, {"q": ranking})
    assert all(values[name]["q"] == 0 for name in MEASURES)


def test_the_order_alone_decides() -> None:
    """A library that sorts equal scores by id would put z before a."""
    values = score_rankings({"q": ["a"]}, {"q": ["a", "z"]})
    assert values["recall@1"]["q"] == 1


def test_a_question_without_a_ranking_scores_zero() -> None:
    values = score_rankings({"q": ["a"], "r": ["b"]}, {"q": ["a"], "r": []})
    assert values["ndcg@10"] == {"q": 1.0, "r": 0.0}


def test_nothing_asked_gives_nothing() -> None:
    assert score_rankings({}, {}) == {name: {} for name in MEASURES}
