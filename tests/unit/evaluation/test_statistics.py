from __future__ import annotations

import pytest

from quire.evaluation.statistics import (
    auroc,
    bootstrap,
    bootstrap_mean,
    calibration_error,
    mean,
    precision_recall,
    reliability,
)


def test_auroc_is_the_share_of_pairs_in_the_right_order() -> None:
    """Positives .9 and .4 against negatives .5 and .1: three of four pairs."""
    assert auroc([1, 0, 1, 0], [0.9, 0.5, 0.4, 0.1]) == 0.75


def test_ties_count_half() -> None:
    assert auroc([1, 0], [0.5, 0.5]) == 0.5
    assert auroc([1, 0, 0], [0.5, 0.5, 0.1]) == 0.75


@pytest.mark.parametrize("labels", [[], [1, 1], [0]])
def test_auroc_needs_both_labels(labels: list[float]) -> None:
    assert auroc(labels, [0.5] * len(labels)) is None


def test_calibration_error_weights_the_gap_of_each_bin() -> None:
    """Bin .9: said .9, true .5, two of four; bin .1: said .1, true 0, two of four."""
    assert calibration_error([1, 0, 0, 0], [0.9, 0.9, 0.1, 0.1]) == pytest.approx(0.25)


def test_probability_one_falls_into_the_last_bin() -> None:
    (only,) = reliability([1], [1.0])
    assert (only.low, only.high, only.n) == (0.9, 1.0, 1)


def test_an_interval_is_the_same_every_time_and_holds_the_mean() -> None:
    values = [0.0, 1.0] * 50
    interval = bootstrap_mean(values)
    assert interval is not None
    assert interval == bootstrap_mean(values)
    assert interval[0] < 0.5 < interval[1]
    assert interval[1] - interval[0] == pytest.approx(0.196, abs=0.03)


def test_the_interval_of_a_constant_is_a_point() -> None:
    assert bootstrap_mean([1.0] * 10) == (1.0, 1.0)


def test_resamples_without_both_labels_are_left_out() -> None:
    interval = bootstrap(auroc, [1, 0, 0], [0.9, 0.5, 0.1])
    assert interval == (1.0, 1.0)


def test_nothing_has_no_mean_and_no_interval() -> None:
    assert mean([]) is None
    assert bootstrap_mean([]) is None
    assert calibration_error([], []) is None


def test_the_refusal_curve_ends_where_everything_is_caught() -> None:
    points = precision_recall([1, 0, 1, 0], [0.9, 0.8, 0.8, 0.1])
    assert [(p.recall, round(p.precision, 3)) for p in points] == [
        (0.5, 1.0),
        (1.0, 0.667),
        (1.0, 0.5),
    ]
