"""How well questions are answered or refused: every one asked, every citation checked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from quire.errors import InputError
from quire.evaluation.corpus import PageNames
from quire.evaluation.matching import contains, word_recall, words_of
from quire.evaluation.questions import Question
from quire.evaluation.ranking import unique
from quire.evaluation.retrieval import Found
from quire.evaluation.scratch import IndexedCorpus, Progress
from quire.evaluation.statistics import (
    auroc,
    bootstrap,
    bootstrap_mean,
    calibration_error,
    mean,
    percentile,
)
from quire.models import Answer, Citation, Message

Context = Literal["auto", "book", "docs"]


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


async def evaluate_answers(
    indexed: IndexedCorpus,
    questions: Sequence[Question],
    *,
    context: Context = "auto",
    price_per_million_tokens: float | None = None,
    progress: Progress | None = None,
) -> AnswersResult:
    """Ask every question in turn; in a dialogue, the answers given so far are its history.

    With `context="docs"` a question may be answered only from the documents it brings;
    `auto` does that when every question brings some.
    """
    if context == "auto":
        closed = all(question.docs for question in questions)
        context = "docs" if questions and closed else "book"
    names = PageNames(indexed.corpus)
    asking = _Asking(indexed, names, SourceFiles(indexed.corpus.root), closed=context == "docs")
    answered: list[AnsweredQuestion] = []
    for question in questions:
        answered.append(await asking.ask(question))
        if progress:
            progress("asking", len(answered), len(questions))
    return AnswersResult(
        model=asking.model,
        context=context,
        questions=answered,
        price_per_million_tokens=price_per_million_tokens,
    )


class SourceFiles:
    """Reads a book's files as they are on disk, to check quotes against them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, str] = {}

    def holds(self, citation: Citation) -> bool:
        """Whether the quote stands in its file, character for character, where it says."""
        text = self._read(citation.source_file)
        return text[citation.char_start : citation.char_end] == citation.quote != ""

    def _read(self, source_file: str) -> str:
        if source_file not in self._texts:
            path = self._root / source_file
            data = path.read_bytes() if path.is_file() else b""
            self._texts[source_file] = data.decode("utf-8", errors="replace")
        return self._texts[source_file]


class _Asking:
    """Asks one question after the other and keeps the threads of dialogues."""

    def __init__(
        self, indexed: IndexedCorpus, names: PageNames, sources: SourceFiles, *, closed: bool
    ) -> None:
        self._indexed = indexed
        self._names = names
        self._sources = sources
        self._closed = closed
        self._threads: dict[str, list[Message]] = {}
        self.model = ""

    async def ask(self, question: Question) -> AnsweredQuestion:
        """The answer, checked; a question the library rejects counts as refused."""
        from quire.wiring import Ask

        thread = self._threads.setdefault(question.dialogue, []) if question.dialogue else []
        start = time.perf_counter()
        try:
            answer = await self._indexed.library.ask(
                Ask(
                    text=question.text,
                    book_id=self._indexed.book_id,
                    history=[*question.history, *thread],
                    filters=self._filters(question),
                    top_k=self._indexed.library.settings.top_k,
                )
            )
        except InputError as error:
            return self._rejected(question, error, (time.perf_counter() - start) * 1000)
        elapsed = (time.perf_counter() - start) * 1000
        self.model = answer.model
        thread.append(Message(role="user", content=question.text))
        thread.append(Message(role="assistant", content=answer.text))
        return self._checked(question, answer, elapsed)

    def _filters(self, question: Question) -> dict[str, Any]:
        if not self._closed:
            return {}
        files = [self._names.source_file(self._names.resolve(doc)[0]) for doc in question.docs]
        return {"source_file": [file for file in files if file]}

    def _checked(self, question: Question, answer: Answer, elapsed: float) -> AnsweredQuestion:
        answered = answer.should_answer and not answer.clarification
        relevant = unique([self._names.resolve(name)[0] for name in question.relevant])
        golden = bool(question.answers) and question.answerable is not False
        text = answer.text if answered else ""
        return AnsweredQuestion(
            id=question.id,
            question=question.text,
            standalone=answer.standalone_question,
            group=question.group,
            answerable=question.answerable,
            relevant=relevant,
            answered=answered,
            asked_back=answer.clarification,
            refusal_reason=answer.refusal_reason,
            probability=answer.confidence.probability,
            level=answer.confidence.level,
            text=answer.text,
            citations=[self._citation(c, relevant) for c in answer.citations],
            contained=contains(text, question.answers) if golden else None,
            recalled=word_recall(text, question.answers) if golden else None,
            words=len(words_of(text)),
            tokens=answer.tokens_used,
            elapsed_ms=elapsed,
            passages=[Found.of(passage, self._names) for passage in answer.passages],
        )

    def _citation(self, citation: Citation, relevant: Sequence[str]) -> CheckedCitation:
        page = self._names.page_id(citation.source_file)
        return CheckedCitation(
            page=page,
            quote=citation.quote,
            char_start=citation.char_start,
            char_end=citation.char_end,
            exact=self._sources.holds(citation),
            relevant=page in relevant,
        )

    def _rejected(self, question: Question, error: InputError, elapsed: float) -> AnsweredQuestion:
        golden = bool(question.answers) and question.answerable is not False
        return AnsweredQuestion(
            id=question.id,
            question=question.text,
            standalone=question.text,
            group=question.group,
            answerable=question.answerable,
            relevant=unique([self._names.resolve(name)[0] for name in question.relevant]),
            answered=False,
            asked_back=False,
            refusal_reason=f"rejected: {error.message}",
            probability=0.0,
            level="insufficient",
            text="",
            contained=False if golden else None,
            recalled=0.0 if golden else None,
            words=0,
            tokens=0,
            elapsed_ms=elapsed,
        )
