"""Fitting the confidence to labelled questions of one or several books."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from quire.errors import InvalidRequest
from quire.evaluation.corpus import PageNames
from quire.evaluation.fitting import Example, Fitness, balance, fit, fitness, held_out
from quire.evaluation.questions import Question, read_questions, sample
from quire.evaluation.scratch import IndexedCorpus, Progress, indexed
from quire.retrieval.calibration import (
    FEATURES,
    READ_FEATURES,
    Calibration,
    Logistic,
    with_doubt,
)
from quire.settings import Settings

JUDGED = 10
"""Passages of a question that teach relevance."""
_HIGH_PRECISION, _MEDIUM_PRECISION = 0.95, 0.85
_HIGH_FLOOR, _MEDIUM_FLOOR = 0.8, 0.5
"""An easy corpus reaches these precisions anywhere; a level must mean something all the same."""


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Questions on a corpus."""

    corpus: Path
    questions: Path


@dataclass(frozen=True, slots=True)
class Levels:
    """Least probability of each level."""

    high: float
    medium: float
    low: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A calibration, and how good it is on what it was fitted on and on what it was not."""

    calibration: Calibration
    answerability: Fitness
    answerability_held_out: Fitness
    relevance: Fitness
    sets: dict[str, Fitness]

    def as_json(self) -> dict[str, Any]:
        """Plain values; `auroc` and `ece` are those on held-out sets."""
        return {
            "auroc": self.answerability_held_out.auroc,
            "ece": self.answerability_held_out.ece,
            "n": self.answerability.n,
            "in_sample": asdict(self.answerability),
            "held_out": asdict(self.answerability_held_out),
            "relevance": asdict(self.relevance),
            "sets": {name: asdict(value) for name, value in self.sets.items()},
            "calibration": asdict(self.calibration),
        }


@dataclass(slots=True)
class Examples:
    """What questions taught: about whole retrievals, and about single passages."""

    retrievals: list[Example]
    passages: list[Example]


async def calibrate(
    settings: Settings,
    sets: Sequence[LabelledSet],
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Fitted:
    """Search every labelled question of every set, and fit both regressions."""
    examples = Examples([], [])
    embedder = ""
    for labelled in sets:
        questions = sample(read_questions(labelled.questions), limit)
        async with indexed(labelled.corpus, settings, progress) as book:
            embedder = book.library.embedder.name
            await _learn(book, questions, examples, progress)
    if len({example.label for example in examples.retrievals}) < 2:
        raise InvalidRequest(
            "calibrating needs questions that can be answered and questions that can't"
        )
    return fit_calibration(examples, embedder)


def fit_calibration(examples: Examples, embedder: str) -> Fitted:
    """Fit relevance and answerability, and choose the levels."""
    answerability = fit(examples.retrievals, FEATURES)
    read = any("answerable" in example.features for example in examples.retrievals)
    retrievals, names = examples.retrievals, FEATURES
    if read:
        retrievals, names = [doubted(e, answerability) for e in retrievals], READ_FEATURES
    deciding = fit(retrievals, names)
    relevance = fit(examples.passages, ("rank_score",))
    said = [deciding.probability(e.features) for e in retrievals]
    unseen = held_out(retrievals, names)
    relevant = [relevance.probability(e.features) for e in examples.passages]
    levels = choose_levels(examples.retrievals, unseen)
    origins = list(dict.fromkeys(e.origin for e in examples.retrievals))
    return Fitted(
        calibration=Calibration(
            embedder=embedder,
            relevance=relevance,
            answerability=answerability,
            high=levels.high,
            medium=levels.medium,
            low=levels.low,
            fitted_on=f"{len(examples.retrievals)} questions: {', '.join(origins)}",
            reading=deciding if read else None,
        ),
        answerability=fitness(examples.retrievals, said),
        answerability_held_out=fitness(examples.retrievals, unseen),
        relevance=fitness(examples.passages, relevant),
        sets={origin: _of_set(examples.retrievals, unseen, origin) for origin in origins},
    )


def doubted(example: Example, answerability: Logistic) -> Example:
    """The example as a fit with a reader sees it."""
    return replace(example, features=with_doubt(example.features, answerability))


def choose_levels(examples: Sequence[Example], probabilities: Sequence[float]) -> Levels:
    """The cuts of the confidence.

    `low` is where wrong answers and wrong refusals together are fewest; `medium` and `high`
    are where 85 % and 95 % of what lies above is answerable, all under balanced weights, and
    never below a probability of .5 and .8.
    """
    order = np.argsort(-np.asarray(probabilities), kind="stable")
    weights = balance(examples)[order]
    labels = np.array([e.label for e in examples])[order]
    said = np.asarray(probabilities)[order]
    right = np.cumsum(weights * labels)
    wrong = np.cumsum(weights * ~labels)
    low = float(said[int(np.argmax(right - wrong))])
    precision = right / (right + wrong)

    def least(wanted: float, above: float) -> float:
        enough = np.flatnonzero(precision >= wanted)
        return max(above, float(said[enough[-1]])) if len(enough) else max(above, 0.99)

    medium = least(_MEDIUM_PRECISION, max(low, _MEDIUM_FLOOR))
    high = least(_HIGH_PRECISION, max(medium, _HIGH_FLOOR))
    return Levels(high=round(high, 4), medium=round(medium, 4), low=round(low, 4))


async def _learn(
    book: IndexedCorpus,
    questions: Sequence[Question],
    examples: Examples,
    progress: Progress | None,
) -> None:
    names = PageNames(book.corpus)
    labelled = [q for q in questions if q.answerable is not None and not q.history]
    for done, question in enumerate(labelled, start=1):
        text = question.standalone or question.text
        searcher = book.library.searcher
        ranked = await searcher.candidates(book.book_id, text, read=True)
        features = await searcher.features(text, ranked, read=True)
        pages = {names.resolve(name)[0] for name in question.relevant}
        examples.retrievals.append(Example(features, bool(question.answerable), book.corpus.name))
        if pages or question.answerable is False:
            examples.passages += [
                Example(
                    {"rank_score": candidate.score},
                    names.page_id(candidate.chunk.source_file) in pages,
                    book.corpus.name,
                )
                for candidate in ranked[:JUDGED]
            ]
        if progress:
            progress(f"searching {book.corpus.name}", done, len(labelled))


def _of_set(examples: Sequence[Example], said: Sequence[float], origin: str) -> Fitness:
    chosen = [position for position, e in enumerate(examples) if e.origin == origin]
    return fitness([examples[p] for p in chosen], [said[p] for p in chosen])
