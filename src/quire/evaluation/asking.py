"""Asking every question of a set, and checking every answer against the files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from quire.errors import InputError, QuireError
from quire.evaluation.answers import FAILED, AnsweredQuestion, AnswersResult, CheckedCitation
from quire.evaluation.corpus import PageNames
from quire.evaluation.matching import contains, word_recall, words_of
from quire.evaluation.questions import Question
from quire.evaluation.ranking import unique
from quire.evaluation.retrieval import Found
from quire.evaluation.scratch import IndexedCorpus, Progress
from quire.models import Answer, Citation, Message

Context = Literal["auto", "book", "docs"]

_FAILURES_IN_A_ROW = 5


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
        self._failures = 0
        self.model = ""

    async def ask(self, question: Question) -> AnsweredQuestion:
        """The answer, checked; a question that can't be asked counts as refused.

        Several failures in a row that are not the questions' fault end the run.
        """
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
        except QuireError as error:
            self._fail(error)
            return self._failed(question, error, (time.perf_counter() - start) * 1000)
        self._failures = 0
        elapsed = (time.perf_counter() - start) * 1000
        self.model = answer.model
        thread.append(Message(role="user", content=question.text))
        thread.append(Message(role="assistant", content=answer.text))
        return self._checked(question, answer, elapsed)

    def _fail(self, error: QuireError) -> None:
        if not isinstance(error, InputError):
            self._failures += 1
            if self._failures >= _FAILURES_IN_A_ROW:
                raise error

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

    def _failed(self, question: Question, error: QuireError, elapsed: float) -> AnsweredQuestion:
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
            refusal_reason=f"{FAILED}{error.message}",
            probability=0.0,
            level="insufficient",
            text="",
            contained=False if golden else None,
            recalled=0.0 if golden else None,
            words=0,
            tokens=0,
            elapsed_ms=elapsed,
        )
