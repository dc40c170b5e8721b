from __future__ import annotations

import pytest

from quire.retrieval.calibration import (
    Calibration,
    Logistic,
    calibration_from_json,
    shipped_calibration,
    sigmoid,
)
from quire.retrieval.confidence import assess, calibrated_level, similarity_level


@pytest.mark.parametrize(
    ("average", "chunks", "level"),
    [
        (0.85, 5, "high"),
        (0.85, 4, "medium"),
        (0.8499, 5, "medium"),
        (0.75, 3, "medium"),
        (0.75, 2, "low"),
        (0.7499, 3, "low"),
        (0.60, 2, "low"),
        (0.60, 1, "insufficient"),
        (0.5999, 5, "insufficient"),
    ],
)
def test_the_rule_on_averages_at_its_boundaries(average: float, chunks: int, level: str) -> None:
    assert similarity_level(average, chunks) == level


def test_no_passages_is_insufficient_whatever_the_policy() -> None:
    for policy in ("calibrated", "similarity"):
        confidence = assess([], [], {}, calibration=shipped_calibration("default"), policy=policy)
        assert confidence.level == "insufficient"
        assert not confidence.should_answer


def test_levels_are_cut_on_the_probability() -> None:
    calibration = Calibration("x", Logistic(0, {}), Logistic(0, {}), 0.8, 0.5, 0.2)
    levels = [calibrated_level(p, calibration) for p in (0.8, 0.79, 0.5, 0.49, 0.2, 0.19)]
    assert levels == ["high", "medium", "medium", "low", "low", "insufficient"]


def test_a_calibration_survives_its_file() -> None:
    shipped = shipped_calibration("default")
    assert calibration_from_json(shipped.to_json()) == shipped


def test_sigmoid_does_not_overflow() -> None:
    assert sigmoid(-1e6) == 0.0
    assert sigmoid(1e6) == 1.0
    assert sigmoid(0) == 0.5
