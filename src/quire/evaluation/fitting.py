"""Logistic regression by Newton's method, and what a fit is worth on data it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from quire.evaluation.statistics import Floats, auroc
from quire.retrieval.calibration import Logistic

_STEPS = 50
_RIDGE = 1e-3
"""Keeps a perfectly separable fit finite; too small to move any other."""


@dataclass(frozen=True, slots=True)
class Example:
    """Features with the truth, and the set they come from."""

    features: Mapping[str, float]
    label: bool
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Fitness:
    """How good probabilities are; weighted so that both labels and all sets count alike."""

    n: int
    auroc: float | None
    ece: float | None


def fit(examples: Sequence[Example], names: Sequence[str]) -> Logistic:
    """The regression over the named features; absent features count as zero.

    Both labels get the same total weight, and within a label every set: the share of
    answerable questions in a benchmark says nothing of what readers will ask.
    """
    matrix = np.array([[e.features.get(name, 0.0) for name in names] for e in examples])
    labels = np.array([float(e.label) for e in examples])
    centre, scale = matrix.mean(axis=0), matrix.std(axis=0)
    scale[scale == 0] = 1.0
    design = np.column_stack([np.ones(len(examples)), (matrix - centre) / scale])
    solution = _newton(design, labels, balance(examples))
    weights = solution[1:] / scale
    return Logistic(
        bias=float(solution[0] - weights @ centre),
        weights={name: float(w) for name, w in zip(names, weights, strict=True)},
    )


def balance(examples: Sequence[Example]) -> Floats:
    """Weights with mean 1 that make labels count alike, and sets within a label."""
    counts: dict[tuple[bool, str], int] = {}
    for example in examples:
        key = (example.label, example.origin)
        counts[key] = counts.get(key, 0) + 1
    sets = {label: sum(1 for known, _ in counts if known is label) for label in (False, True)}
    labels = len({label for label, _ in counts})
    return np.array(
        [len(examples) / (labels * sets[e.label] * counts[(e.label, e.origin)]) for e in examples]
    )


def fitness(examples: Sequence[Example], probabilities: Sequence[float]) -> Fitness:
    """AUROC, and the calibration error under the weights of `balance`."""
    return Fitness(
        n=len(examples),
        auroc=auroc([float(e.label) for e in examples], probabilities),
        ece=weighted_error(examples, probabilities),
    )


def weighted_error(examples: Sequence[Example], probabilities: Sequence[float]) -> float | None:
    """Expected calibration error over ten bins, under the weights of `balance`."""
    if not examples:
        return None
    weights = balance(examples)
    labels = np.array([float(e.label) for e in examples])
    said = np.asarray(probabilities, dtype=np.float64)
    places = np.clip((said * 10).astype(int), 0, 9)
    error = 0.0
    for place in range(10):
        inside = places == place
        total = float(weights[inside].sum())
        if total:
            gap = (weights[inside] * (said[inside] - labels[inside])).sum() / total
            error += total * abs(float(gap))
    return error / float(weights.sum())


def held_out(examples: Sequence[Example], names: Sequence[str], *, folds: int = 5) -> list[float]:
    """Probabilities for every example by a fit that has not seen its set.

    With one set only, the sets are `folds` slices of it.
    """
    origins = sorted({e.origin for e in examples})
    fold_of: Callable[[int, Example], int]
    if len(origins) > 1:
        fold_of, folds = (lambda _, e: origins.index(e.origin)), len(origins)
    else:
        fold_of = lambda position, _: position % folds  # noqa: E731
    places = [fold_of(position, e) for position, e in enumerate(examples)]
    probabilities = [0.5] * len(examples)
    for fold in range(folds):
        seen = [e for e, place in zip(examples, places, strict=True) if place != fold]
        if len({e.label for e in seen}) < 2:
            continue
        fitted = fit(seen, names)
        for position, place in enumerate(places):
            if place == fold:
                probabilities[position] = fitted.probability(examples[position].features)
    return probabilities


def _newton(design: Floats, labels: Floats, weights: Floats) -> Floats:
    solution = np.zeros(design.shape[1])
    penalty = np.full(design.shape[1], _RIDGE * len(labels))
    penalty[0] = 0.0
    for _ in range(_STEPS):
        probability = 1.0 / (1.0 + np.exp(-np.clip(design @ solution, -30, 30)))
        gradient = design.T @ (weights * (probability - labels)) + penalty * solution
        curvature = weights * probability * (1 - probability)
        hessian = (design * curvature[:, None]).T @ design + np.diag(penalty + 1e-9)
        step = np.linalg.solve(hessian, gradient)
        solution = solution - step
        if float(np.abs(step).max()) < 1e-8:
            break
    return solution
