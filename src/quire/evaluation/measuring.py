"""Whole measurements, from a path and a file of questions to a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.evaluation.asking import Context, evaluate_answers
from quire.evaluation.gate import (
    Baseline,
    GatedQuestion,
    Verdict,
    gated_metrics,
    gated_questions,
    judge,
    make_baseline,
)
from quire.evaluation.questions import Question, read_all, sample
from quire.evaluation.retrieval import FollowUps, Match, evaluate_retrieval
from quire.evaluation.runs import Run, answers_run, retrieval_run
from quire.evaluation.scratch import Progress, indexed
from quire.evaluation.thresholds import Check
from quire.settings import Settings


async def measure_retrieval(
    settings: Settings,
    corpus: Path,
    question_files: Sequence[Path],
    *,
    match: Match = "page",
    follow_ups: FollowUps = "resolved",
    limit: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Ingest what changed, search every question, and score the rankings."""
    questions = sample(read_all(question_files), limit)
    async with indexed(corpus, settings, progress) as book:
        result = await evaluate_retrieval(
            book, questions, match=match, follow_ups=follow_ups, progress=progress
        )
        return retrieval_run(
            result, book, question_files, follow_ups=follow_ups, ingestion=book.ingestion
        )


async def measure_answers(
    settings: Settings,
    corpus: Path,
    question_files: Sequence[Path],
    *,
    context: Context = "auto",
    limit: int | None = None,
    price: float | None = None,
    progress: Progress | None = None,
) -> Run:
    """Ingest what changed, ask every question, and check every answer."""
    questions = sample(read_all(question_files), limit)
    async with indexed(corpus, settings, progress) as book:
        result = await evaluate_answers(
            book,
            questions,
            context=context,
            price_per_million_tokens=price,
            progress=progress,
        )
        return answers_run(result, book, question_files)


@dataclass(frozen=True, slots=True)
class GateResults:
    """What a gate measured, before it is held against anything."""

    metrics: dict[str, float]
    questions: list[GatedQuestion]
    made_with: dict[str, str]

    def judged(self, baseline: Baseline | None) -> Verdict:
        """The verdict against a baseline."""
        return judge(self.metrics, self.questions, baseline)

    def baseline(self, previous: Baseline | None) -> Baseline:
        """These results as the new baseline."""
        return make_baseline(
            self.metrics, self.questions, made_with=self.made_with, previous=previous
        )


async def measure_gate(
    settings: Settings,
    book_path: Path,
    questions: list[Question],
    *,
    progress: Progress | None = None,
) -> GateResults:
    """Search and ask every question of a book."""
    from quire import __version__

    async with indexed(book_path, settings, progress) as book:
        retrieval = await evaluate_retrieval(book, questions, progress=progress)
        answers = await evaluate_answers(book, questions, context="book", progress=progress)
        return GateResults(
            metrics=gated_metrics(retrieval, answers),
            questions=gated_questions(answers),
            made_with={
                "quire": __version__,
                "embedder": book.library.embedder.name,
                "model": answers.model,
            },
        )


async def measure_check(
    settings: Settings, check: Check, *, progress: Progress | None = None
) -> Run:
    """The run a check asks for."""
    if check.kind == "retrieval":
        return await measure_retrieval(
            settings,
            check.corpus,
            [check.questions],
            match=check.match,
            limit=check.limit,
            progress=progress,
        )
    return await measure_answers(
        settings, check.corpus, [check.questions], limit=check.limit, progress=progress
    )
