"""Reciprocal rank fusion of several rankings of the same things."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def fuse(rankings: Sequence[tuple[float, Sequence[K]]], *, k: float) -> list[tuple[K, float]]:
    """Merge weighted rankings, best first; ties keep the order of first appearance.

    Args:
        rankings: A weight and the keys in rank order, for each way of searching.
        k: Dampens the lead of the first ranks; smaller trusts the top more.
    """
    scores: dict[K, float] = {}
    for weight, keys in rankings:
        for rank, key in enumerate(keys):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank + 1)
    return sorted(scores.items(), key=lambda item: -item[1])
