"""Two runs over the same questions: which measures moved, and which questions moved them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from quire.errors import InvalidRequest
from quire.evaluation.runs import Number, Run
from quire.evaluation.statistics import bootstrap_mean

LOWER_IS_BETTER = frozenset(
    {
        "false_answer_rate",
        "false_refusal_rate",
        "ece",
        "failed",
        "latency_ms_p50",
        "latency_ms_p95",
        "tokens",
        "cost",
    }
)
NEUTRAL = frozenset({"n", "answered", "refused", "asked_back", "citations", "answer_length"})

_ASPECTS: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("ndcg@10", "mrr@10", "recall@1", "recall@5", "recall@10"),
    "answers": ("right", "answered", "contained"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One measure before and after; `better` is None for measures that have no good side."""

    name: str
    before: Number
    after: Number
    better: bool | None


@dataclass(frozen=True, slots=True)
class MovedQuestion:
    """A question that went differently."""

    id: str
    question: str
    before: str
    after: str
    change: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that differs between two runs."""

    before: str
    after: str
    changes: list[Change]
    better: list[MovedQuestion]
    worse: list[MovedQuestion]
    unchanged: int
    interval: tuple[float, float] | None
    """95 % interval of the mean change of the leading measure over shared questions."""
    leading: str
    only_before: int
    only_after: int

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def compare(before: Run, after: Run) -> Comparison:
    """What got better and what got worse, the largest changes first.

    Retrieval is compared by nDCG@10, answers by being right (answered from a relevant page,
    or rightly refused).
    """
    if before.kind != after.kind:
        raise InvalidRequest(f"a run of {before.kind} can't be compared with one of {after.kind}")
    old = {row["id"]: row for row in before.questions}
    new = {row["id"]: row for row in after.questions}
    shared = [id for id in old if id in new]
    moves = [_moved(old[id], new[id], before.kind) for id in shared]
    moved = sorted((m for m in moves if m.change), key=lambda m: (-abs(m.change), m.id))
    return Comparison(
        before=before.name,
        after=after.name,
        changes=_changes(before.metrics, after.metrics),
        better=[m for m in moved if m.change > 0],
        worse=[m for m in moved if m.change < 0],
        unchanged=len(shared) - len(moved),
        interval=bootstrap_mean([m.change for m in moves]),
        leading=_ASPECTS[before.kind][0],
        only_before=len(old) - len(shared),
        only_after=len(new) - len(shared),
    )


def _changes(before: Mapping[str, Number], after: Mapping[str, Number]) -> list[Change]:
    found: list[Change] = []
    for name in before:
        if name not in after:
            continue
        old, new = before[name], after[name]
        better: bool | None = None
        if name not in NEUTRAL and old is not None and new is not None and old != new:
            better = (new < old) == (name in LOWER_IS_BETTER)
        found.append(Change(name, old, new, better))
    return found


def _moved(old: Mapping[str, Any], new: Mapping[str, Any], kind: str) -> MovedQuestion:
    if kind == "retrieval":
        change = new["values"]["ndcg@10"] - old["values"]["ndcg@10"]
        texts = [f"rank {row['rank'] or '—'}" for row in (old, new)]
    else:
        change = _grade(new) - _grade(old)
        texts = [_outcome(row) for row in (old, new)]
    return MovedQuestion(new["id"], new["question"], texts[0], texts[1], change)


def _grade(row: Mapping[str, Any]) -> float:
    """Right or not decides; a contained gold answer tells two right answers apart."""
    return float(row["right"]) + 0.1 * float(bool(row["contained"]))


def _outcome(row: Mapping[str, Any]) -> str:
    verdict = "right" if row["right"] else "wrong"
    if row["asked_back"]:
        return f"asked back ({verdict})"
    return f"{'answered' if row['answered'] else 'refused'} ({verdict})"
