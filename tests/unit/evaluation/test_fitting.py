from __future__ import annotations

import numpy as np
import pytest

from quire.evaluation.calibrating import Examples, choose_levels, fit_calibration
from quire.evaluation.fitting import Example, balance, fit, fitness, held_out
from quire.retrieval.calibration import FEATURES, sigmoid


def drawn(n: int, *, bias: float, weight: float, origin: str = "", seed: int = 0) -> list[Example]:
    """Examples whose truth follows a known regression on one feature."""
    generator = np.random.default_rng(seed)
    values = generator.normal(size=n)
    return [
        Example({"x": float(x)}, bool(generator.random() < sigmoid(bias + weight * x)), origin)
        for x in values
    ]


def test_a_known_regression_is_recovered() -> None:
    fitted = fit(drawn(20_000, bias=0.0, weight=2.0), ["x"])
    assert fitted.weights["x"] == pytest.approx(2.0, abs=0.1)
    assert fitted.bias == pytest.approx(0.0, abs=0.1)


def test_separable_examples_give_a_finite_fit() -> None:
    fitted = fit([Example({"x": x}, x > 0) for x in (-2.0, -1.0, 1.0, 2.0)], ["x"])
    assert fitted.probability({"x": 3.0}) > 0.9
    assert abs(fitted.weights["x"]) < 100


def test_a_feature_that_never_varies_gets_no_weight() -> None:
    fitted = fit([Example({"x": x, "c": 5.0}, x > 0) for x in (-1.0, 1.0)] * 5, ["x", "c"])
    assert fitted.weights["c"] == pytest.approx(0.0, abs=1e-6)


def test_labels_and_sets_weigh_alike() -> None:
    examples = (
        [Example({}, True, "a")] * 8 + [Example({}, True, "b")] * 2 + [Example({}, False, "a")] * 5
    )
    weights = balance(examples)
    assert weights[:8].sum() == pytest.approx(weights[8:10].sum())
    assert weights[:10].sum() == pytest.approx(weights[10:].sum())
    assert weights.mean() == pytest.approx(1.0)


def test_held_out_probabilities_come_from_other_sets() -> None:
    """A set that contradicts the other is predicted wrongly by it."""
    right = [Example({"x": x}, x > 0, "a") for x in (-1.0, 1.0)] * 5
    wrong = [Example({"x": x}, x < 0, "b") for x in (-1.0, 1.0)] * 5
    unseen = held_out([*right, *wrong], ["x"])
    assert fitness(wrong, unseen[10:]).auroc == 0.0


def test_one_set_is_held_out_in_slices() -> None:
    unseen = held_out(drawn(500, bias=0.0, weight=4.0), ["x"])
    assert fitness(drawn(500, bias=0.0, weight=4.0), unseen).auroc == pytest.approx(0.9, abs=0.06)


def test_levels_rise_and_low_separates_best() -> None:
    examples = [Example({}, label) for label in (True, True, True, False, True, False, False)]
    levels = choose_levels(examples, [0.9, 0.8, 0.7, 0.6, 0.5, 0.2, 0.1])
    assert levels.low <= levels.medium <= levels.high
    assert levels.low in (0.5, 0.7)


def test_an_easy_set_does_not_make_every_answer_certain() -> None:
    examples = [Example({}, label) for label in (True, True, False, False)]
    levels = choose_levels(examples, [0.3, 0.25, 0.1, 0.05])
    assert (levels.low, levels.medium, levels.high) == (0.25, 0.5, 0.8)


def test_a_calibration_is_fitted_from_both_kinds_of_examples() -> None:
    retrievals = [
        Example(dict.fromkeys(FEATURES, x), x > 0.5, "set") for x in np.linspace(0, 1, 40).tolist()
    ]
    passages = [Example({"rank_score": x}, x > 0.5, "set") for x in np.linspace(0, 1, 40).tolist()]
    fitted = fit_calibration(Examples(retrievals, passages), "words")
    assert fitted.answerability.auroc == 1.0
    assert fitted.calibration.embedder == "words"
    assert fitted.calibration.relevance.probability({"rank_score": 1.0}) > 0.9
    assert fitted.as_json()["auroc"] == pytest.approx(1.0, abs=0.01)
