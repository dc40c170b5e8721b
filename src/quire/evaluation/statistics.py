"""Small statistics over per-question values: intervals, AUROC, calibration error, curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
SEED = 20_250_101
BINS = 10

Floats = NDArray[np.float64]
Interval = tuple[float, float]


def mean(values: Sequence[float]) -> float | None:
    """The average; None of nothing."""
    return float(np.mean(values)) if len(values) else None


def bootstrap_mean(values: Sequence[float], *, seed: int = SEED) -> Interval | None:
    """The 95 % percentile interval of the mean; the same values give the same interval."""
    if not len(values):
        return None
    data = np.asarray(values, dtype=np.float64)
    picks = np.random.default_rng(seed).integers(0, len(data), (RESAMPLES, len(data)))
    return _percentiles(data[picks].mean(axis=1))


def bootstrap(
    statistic: Callable[[Floats, Floats], float | None],
    first: Sequence[float],
    second: Sequence[float],
    *,
    seed: int = SEED,
) -> Interval | None:
    """The 95 % interval of a statistic of pairs, such as AUROC over (label, score)."""
    if not len(first):
        return None
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    generator = np.random.default_rng(seed)
    found: list[float] = []
    for _ in range(RESAMPLES):
        picks = generator.integers(0, len(a), len(a))
        value = statistic(a[picks], b[picks])
        if value is not None:
            found.append(value)
    return _percentiles(np.asarray(found)) if found else None


def auroc(labels: Sequence[float] | Floats, scores: Sequence[float] | Floats) -> float | None:
    """The chance that a positive scores above a negative, ties half; None without both."""
    label, score = np.asarray(labels, dtype=bool), np.asarray(scores, dtype=np.float64)
    positives = int(label.sum())
    negatives = len(label) - positives
    if not positives or not negatives:
        return None
    rank_sum = float(_average_ranks(score)[label].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of similar probability: what was said, and what was true."""

    low: float
    high: float
    n: int
    predicted: float
    observed: float


def reliability(
    labels: Sequence[float] | Floats, probabilities: Sequence[float] | Floats, *, bins: int = BINS
) -> list[Bin]:
    """Equal-width bins that hold at least one prediction."""
    label = np.asarray(labels, dtype=np.float64)
    probability = np.asarray(probabilities, dtype=np.float64)
    places = np.clip((probability * bins).astype(int), 0, bins - 1)
    found: list[Bin] = []
    for place in range(bins):
        inside = places == place
        if inside.any():
            found.append(
                Bin(
                    low=place / bins,
                    high=(place + 1) / bins,
                    n=int(inside.sum()),
                    predicted=float(probability[inside].mean()),
                    observed=float(label[inside].mean()),
                )
            )
    return found


def calibration_error(
    labels: Sequence[float] | Floats, probabilities: Sequence[float] | Floats, *, bins: int = BINS
) -> float | None:
    """Expected calibration error: the mean gap of said and true, weighted by bin size."""
    total = len(labels)
    if not total:
        return None
    return (
        sum(
            b.n * abs(b.predicted - b.observed)
            for b in reliability(labels, probabilities, bins=bins)
        )
        / total
    )


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One threshold of a detector with what it then catches."""

    threshold: float
    precision: float
    recall: float


def precision_recall(labels: Sequence[float], scores: Sequence[float]) -> list[CurvePoint]:
    """The curve over all distinct thresholds, strictest first; empty without positives."""
    label, score = np.asarray(labels, dtype=bool), np.asarray(scores, dtype=np.float64)
    positives = int(label.sum())
    if not positives:
        return []
    order = np.argsort(-score, kind="stable")
    caught = np.cumsum(label[order])
    last_of_value = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    return [
        CurvePoint(
            threshold=float(score[order][i]),
            precision=float(caught[i] / (i + 1)),
            recall=float(caught[i] / positives),
        )
        for i in last_of_value
    ]


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value below which this share (0–100) of the values lies."""
    return float(np.percentile(values, share)) if len(values) else None


def _percentiles(values: Floats) -> Interval:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def _average_ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse]
