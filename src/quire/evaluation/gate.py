"""The gate for authors: questions with the expected page or `refuse`, against a baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from quire.errors import InvalidRequest
from quire.evaluation.answers import AnsweredQuestion, AnswersResult
from quire.evaluation.comparison import LOWER_IS_BETTER
from quire.evaluation.retrieval import RetrievalResult

TOLERANCES: Mapping[str, float] = {
    "ndcg@10": 0.02,
    "recall@1": 0.03,
    "recall@5": 0.02,
    "false_answer_rate": 0.03,
    "false_refusal_rate": 0.03,
    "answer_contained": 0.03,
    "citation_relevant": 0.03,
    "citation_exact": 0.0,
}
"""The gated measures, and how much worse than the baseline each may be."""

BASELINE_NAME = "gate-baseline.json"
_SLACK = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedQuestion:
    """One question's outcome in words, and whether it is what the author expects."""

    id: str
    question: str
    expected: str
    outcome: str
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What was good enough when it was stored."""

    metrics: Mapping[str, float]
    passed: Mapping[str, bool]
    tolerances: Mapping[str, float] = field(default_factory=lambda: dict(TOLERANCES))
    made_with: Mapping[str, str] = field(default_factory=dict[str, str])

    def to_json(self) -> str:
        """The file that is kept beside the questions."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedMetric:
    """A measure against its limit; without a baseline there is none."""

    name: str
    value: float
    baseline: float | None
    limit: float | None
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of a gate; `passed` decides the exit code."""

    metrics: list[GatedMetric]
    questions: list[GatedQuestion]
    newly_failing: list[str]
    newly_passing: list[str]
    has_baseline: bool

    @property
    def passed(self) -> bool:
        """No measure is beyond its limit."""
        return all(metric.passed for metric in self.metrics)

    def as_json(self) -> dict[str, Any]:
        """Plain values, the measures by name."""
        return {
            "passed": self.passed,
            "n": len(self.questions),
            "questions_passed": sum(q.passed for q in self.questions),
            **{metric.name: metric.value for metric in self.metrics},
            "metrics": [asdict(metric) for metric in self.metrics],
            "newly_failing": self.newly_failing,
            "newly_passing": self.newly_passing,
            "has_baseline": self.has_baseline,
            "questions": [asdict(question) for question in self.questions],
        }


def gated_metrics(retrieval: RetrievalResult, answers: AnswersResult) -> dict[str, float]:
    """The gated measures that these questions can tell, rounded so that files compare equal."""
    found = {**retrieval.metrics(), **answers.metrics()}
    return {
        name: round(float(value), 6)
        for name in TOLERANCES
        if (value := found.get(name)) is not None
    }


def gated_questions(answers: AnswersResult) -> list[GatedQuestion]:
    """Each question's expectation and what happened."""
    return [
        GatedQuestion(
            id=question.id,
            question=question.question,
            expected=_expected(question),
            outcome=_outcome(question),
            passed=question.right and all(c.exact for c in question.citations),
        )
        for question in answers.questions
    ]


def judge(
    metrics: Mapping[str, float],
    questions: Sequence[GatedQuestion],
    baseline: Baseline | None,
) -> Verdict:
    """Hold the measures against the baseline; a measure it doesn't know passes."""
    known: Mapping[str, bool] = baseline.passed if baseline else {}
    return Verdict(
        metrics=[_gated(name, value, baseline) for name, value in metrics.items()],
        questions=list(questions),
        newly_failing=[q.id for q in questions if not q.passed and known.get(q.id, False)],
        newly_passing=[q.id for q in questions if q.passed and not known.get(q.id, True)],
        has_baseline=baseline is not None,
    )


def make_baseline(
    metrics: Mapping[str, float],
    questions: Sequence[GatedQuestion],
    *,
    made_with: Mapping[str, str],
    previous: Baseline | None = None,
) -> Baseline:
    """A baseline of these results; tolerances an author changed are kept."""
    return Baseline(
        metrics=dict(metrics),
        passed={question.id: question.passed for question in questions},
        tolerances={**TOLERANCES, **(previous.tolerances if previous else {})},
        made_with=dict(made_with),
    )


def read_baseline(path: Path) -> Baseline | None:
    """The stored baseline, None when there is none yet."""
    if not path.is_file():
        return None
    try:
        return Baseline(**json.loads(path.read_text(encoding="utf-8")))
    except (json.JSONDecodeError, TypeError) as error:
        raise InvalidRequest(
            f"'{path}' is not a gate baseline; write it again with --update-baseline"
        ) from error


def _gated(name: str, value: float, baseline: Baseline | None) -> GatedMetric:
    stored = baseline.metrics.get(name) if baseline else None
    if baseline is None or stored is None:
        return GatedMetric(name=name, value=value, baseline=None, limit=None, passed=True)
    tolerance = baseline.tolerances.get(name, TOLERANCES[name])
    if name in LOWER_IS_BETTER:
        limit = stored + tolerance
        passed = value <= limit + _SLACK
    else:
        limit = stored - tolerance
        passed = value >= limit - _SLACK
    return GatedMetric(name=name, value=value, baseline=stored, limit=limit, passed=passed)


def _expected(question: AnsweredQuestion) -> str:
    if question.answerable is False:
        return "refuse"
    return ", ".join(question.relevant) or "answer"


def _outcome(question: AnsweredQuestion) -> str:
    if question.asked_back:
        return "asked back"
    if not question.answered:
        return f"refused ({question.refusal_reason})"
    pages = list(dict.fromkeys(citation.page for citation in question.citations))
    return f"answered from {', '.join(pages)}"
