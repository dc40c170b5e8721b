"""Ranking measures (nDCG, MRR, recall), computed by `ir-measures` question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from quire.errors import MissingExtra

MEASURES = {
    "ndcg@10": "nDCG@10",
    "mrr@10": "RR@10",
    "recall@1": "R@1",
    "recall@5": "R@5",
    "recall@10": "R@10",
}
"""Our names → those of `ir-measures`."""


def score_rankings(
    relevant: Mapping[str, Sequence[str]], rankings: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Measure → question id → value, for every question of `relevant`.

    A question without a ranking scores zero. Rankings are best first and must not repeat an
    id; the order alone counts, so that equal scores can't be sorted by a library's own rule.
    """
    try:
        ir: Any = import_module("ir_measures")
    except ImportError as error:
        raise MissingExtra("quire eval", "eval") from error
    names = {str(ir.parse_measure(theirs)): ours for ours, theirs in MEASURES.items()}
    values: dict[str, dict[str, float]] = {ours: dict.fromkeys(relevant, 0.0) for ours in MEASURES}
    if not relevant:
        return values
    qrels = {question: dict.fromkeys(ids, 1) for question, ids in relevant.items()}
    run = {
        question: {page: float(-rank) for rank, page in enumerate(pages)}
        for question, pages in rankings.items()
        if question in relevant and pages
    }
    measures = [ir.parse_measure(theirs) for theirs in MEASURES.values()]
    for metric in ir.iter_calc(measures, qrels, run) if run else ():
        values[names[str(metric.measure)]][metric.query_id] = float(metric.value)
    return values


def unique(ids: Sequence[str]) -> list[str]:
    """The ids without repetitions, each at its best rank."""
    return list(dict.fromkeys(ids))
