"""How sure we are that the retrieved passages answer the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from quire.models import Confidence, ConfidenceLevel, Passage
from quire.retrieval.calibration import Calibration

Policy = Literal["calibrated", "similarity"]


def diversity(vectors: Sequence[NDArray[np.float32]]) -> float:
    """One minus the mean pairwise cosine of the passages; 0 for fewer than two."""
    if len(vectors) < 2:
        return 0.0
    matrix = np.stack(vectors)
    cosines = matrix @ matrix.T
    pairs = len(vectors) * (len(vectors) - 1)
    mean = float(cosines.sum() - cosines.trace()) / pairs
    return min(1.0, max(0.0, 1.0 - mean))


def similarity_level(average: float, chunks: int) -> ConfidenceLevel:
    """The rule on averages: .85 with five chunks, .75 with three, .60 with two."""
    if average >= 0.85 and chunks >= 5:
        return "high"
    if average >= 0.75 and chunks >= 3:
        return "medium"
    if average >= 0.60 and chunks >= 2:
        return "low"
    return "insufficient"


def calibrated_level(probability: float, calibration: Calibration) -> ConfidenceLevel:
    """The level of a calibrated probability."""
    if probability >= calibration.high:
        return "high"
    if probability >= calibration.medium:
        return "medium"
    if probability >= calibration.low:
        return "low"
    return "insufficient"


def assess(
    passages: Sequence[Passage],
    vectors: Sequence[NDArray[np.float32]],
    features: Mapping[str, float],
    *,
    calibration: Calibration,
    policy: Policy = "calibrated",
) -> Confidence:
    """All metrics over one retrieval; no passages is always insufficient."""
    scores = [p.score for p in passages]
    if not scores:
        return Confidence(
            average_similarity=0.0,
            min_similarity=0.0,
            max_similarity=0.0,
            num_chunks=0,
            chunk_diversity=0.0,
            probability=0.0,
            level="insufficient",
            should_answer=False,
        )
    average = sum(scores) / len(scores)
    if policy == "similarity":
        probability = average
        level = similarity_level(average, len(scores))
    else:
        probability = calibration.probability(features)
        level = calibrated_level(probability, calibration)
    return Confidence(
        average_similarity=average,
        min_similarity=min(scores),
        max_similarity=max(scores),
        num_chunks=len(scores),
        chunk_diversity=diversity(vectors),
        probability=probability,
        level=level,
        should_answer=level != "insufficient",
    )
