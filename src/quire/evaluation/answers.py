"""How well questions were answered or refused: the rows of a run, and the rates over them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from quire.evaluation.ranking import unique
from quire.evaluation.retrieval import Found
from quire.evaluation.statistics import (
    auroc,
    bootstrap,
    bootstrap_mean,
    calibration_error,
    mean,
    percentile,
)

FAILED = "failed: "
"""Begins the refusal reason of a question that could not be asked."""


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """A citation and whether its quote stands in the source file where it says."""

    page: str
    quote: str
    char_start: int
    char_end: int
    exact: bool
    relevant: bool


@dataclass(slots=True, kw_only=True)
class AnsweredQuestion:
    """One question with the answer that was given, or the refusal."""

    id: str
    question: str
    standalone: str
    group: str
    answerable: bool | None
    relevant: list[str]
    answered: bool
    asked_back: bool
    refusal_reason: str | None
    probability: float
    level: str
    text: str
    citations: list[CheckedCitation] = field(default_factory=list[CheckedCitation])
    contained: bool | None
    """Whether a gold answer stands in the answer; None without gold answers."""
    recalled: float | None
    """The share of a gold answer's words that the answer holds."""
    words: int
    tokens: int
    elapsed_ms: float
    passages: list[Found] = field(default_factory=list[Found])

    @property
    def cites_relevant(self) -> bool:
        """At least one citation lies on a relevant page."""
        return any(citation.relevant for citation in self.citations)

    @property
    def right(self) -> bool:
        """Refused what can't be answered; answered the rest from a relevant page."""
        if self.answerable is False:
            return not self.answered
        return self.answered and (self.cites_relevant or not self.relevant)

    def as_json(self) -> dict[str, Any]:
        """Plain values for a saved run."""
        return {**asdict(self), "right": self.right}


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersResult:
    """All answers with the rates over them."""

    model: str
    context: Literal["book", "docs"]
    questions: list[AnsweredQuestion]
    price_per_million_tokens: float | None = None

    def metrics(self) -> dict[str, float | int | None]:
        """Every rate, n, lengths and times; None where there is nothing to count."""
        rows = self.questions
        answered = [q for q in rows if q.answered]
        labels, probabilities = self._confidence()
        tokens = sum(q.tokens for q in rows)
        price = self.price_per_million_tokens
        return {
            "n": len(rows),
            "answered": len(answered),
            "refused": len(rows) - len(answered),
            "asked_back": sum(q.asked_back for q in rows),
            "failed": sum((q.refusal_reason or "").startswith(FAILED) for q in rows),
            **{name: mean(values) for name, values in self.rates().items()},
            "auroc": auroc(labels, probabilities),
            "ece": calibration_error(labels, probabilities),
            "citations": sum(len(q.citations) for q in rows),
            "answer_length": mean([float(q.words) for q in answered]),
            "latency_ms_p50": percentile([q.elapsed_ms for q in rows], 50),
            "latency_ms_p95": percentile([q.elapsed_ms for q in rows], 95),
            "tokens": tokens,
            "cost": tokens * price / 1e6 if price is not None else None,
        }

    def rates(self) -> dict[str, list[float]]:
        """Each rate as the values it is the mean of.

        `answer_contained` counts a refusal as not contained; `citation_exact` is over
        citations (and 1 when there are none), `citation_relevant` over answered questions
        that name relevant pages.
        """
        rows = self.questions
        can = [q for q in rows if q.answerable]
        golden = [q for q in can if q.contained is not None]
        cited = [q for q in can if q.answered and q.relevant]
        citations = [citation for q in rows for citation in q.citations]
        return {
            "false_answer_rate": [float(q.answered) for q in rows if q.answerable is False],
            "false_refusal_rate": [float(not q.answered) for q in can],
            "answer_contained": [float(bool(q.contained)) for q in golden],
            "answer_recall": [q.recalled or 0.0 for q in golden],
            "citation_exact": [float(c.exact) for c in citations] or [1.0],
            "citation_relevant": [float(q.cites_relevant) for q in cited],
        }

    def intervals(self) -> dict[str, tuple[float, float] | None]:
        """95 % bootstrap intervals."""
        labels, probabilities = self._confidence()
        return {
            **{name: bootstrap_mean(values) for name, values in self.rates().items()},
            "auroc": bootstrap(auroc, labels, probabilities),
            "ece": bootstrap(calibration_error, labels, probabilities),
        }

    def groups(self) -> dict[str, dict[str, float | int | None]]:
        """The main rates for each kind of question; empty when there is only one kind."""
        kinds = unique([q.group for q in self.questions])
        if len(kinds) < 2:
            return {}
        found: dict[str, dict[str, float | int | None]] = {}
        for kind in kinds:
            some = [q for q in self.questions if q.group == kind]
            golden = [float(q.contained) for q in some if q.contained is not None]
            found[kind or "other"] = {
                "n": len(some),
                "answered": mean([float(q.answered) for q in some]),
                "asked_back": mean([float(q.asked_back) for q in some]),
                "right": mean([float(q.right) for q in some if q.answerable is not None]),
                "answer_contained": mean(golden),
            }
        return found

    def _confidence(self) -> tuple[list[float], list[float]]:
        labelled = [q for q in self.questions if q.answerable is not None]
        return [float(bool(q.answerable)) for q in labelled], [q.probability for q in labelled]
