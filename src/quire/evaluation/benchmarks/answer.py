"""Answering: what an answer takes beyond the search under it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.benchmarks.search import derived_queries
from quire.evaluation.scratch import IndexedCorpus, Progress, indexed
from quire.reading import Readable, Reader
from quire.retrieval.searcher import readable
from quire.settings import Settings

if TYPE_CHECKING:
    from quire.wiring import Ask

QUESTIONS = 60


async def bench_answer(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Time searches, whole answers, the first sentence of a stream, and the reader alone.

    Every question is asked once: what a reader has read, it remembers.
    """
    from quire.wiring import Ask
    from quire.wiring.adapters import open_reader

    async with indexed(corpus, settings, progress) as book:
        questions = derived_queries(book)[: 2 * QUESTIONS]
        result = Benchmark("answer", f"{len(questions)} questions on {corpus.name}")
        times = _Times(book)
        reader = open_reader(settings)
        await book.library.ask(Ask(text=questions[0], book_id=book.book_id))
        if reader:
            await reader.read(questions[0], [Readable(questions[0])])
        for done, text in enumerate(questions[1:], start=1):
            ask = Ask(text=text, book_id=book.book_id)
            if done % 2:
                await times.stream(ask)
            else:
                await times.answer(ask, reader)
            if progress:
                progress("asking", done, len(questions) - 1)
        if reader:
            await reader.close()
        result.add_latencies("reader, the same passages", times.readings)
        result.add_latencies("search", times.searches)
        result.add_latencies("whole answer", times.answers, against="search")
        result.add_latencies("answer read", times.read_answers, against="reader, the same passages")
        result.add_latencies("first sentence of a stream", times.firsts, against="whole answer")
    return result


class _Times:
    """What was measured, in seconds."""

    def __init__(self, book: IndexedCorpus) -> None:
        self._book = book
        self.searches: list[float] = []
        self.answers: list[float] = []
        self.read_answers: list[float] = []
        """Of the answers whose passages the reader alone was timed on."""
        self.readings: list[float] = []
        self.firsts: list[float] = []

    async def answer(self, ask: Ask, reader: Reader | None) -> None:
        with Stopwatch() as watch:
            await self._book.library.search(ask.text, book_id=self._book.book_id)
        self.searches.append(watch.seconds)
        with Stopwatch() as answering:
            answer = await self._book.library.ask(ask)
        self.answers.append(answering.seconds)
        if reader and answer.passages:
            texts = [readable(passage.chunk) for passage in answer.passages]
            with Stopwatch() as watch:
                await reader.read(answer.standalone_question, texts)
            self.readings.append(watch.seconds)
            self.read_answers.append(answering.seconds)

    async def stream(self, ask: Ask) -> None:
        from quire.answering.events import SentenceReady

        spoken = False
        with Stopwatch() as watch:
            async for event in self._book.library.stream(ask):
                if spoken := isinstance(event, SentenceReady):
                    break
        if spoken:
            self.firsts.append(watch.seconds)
