"""Answering: what an answer takes beyond the search under it."""

from __future__ import annotations

from pathlib import Path

from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.benchmarks.search import derived_queries
from quire.evaluation.scratch import Progress, indexed
from quire.settings import Settings

QUESTIONS = 60


async def bench_answer(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Time searches, whole answers, and the wait for the first sentence of a stream."""
    from quire.answering.events import AnswerDone
    from quire.wiring import Ask

    async with indexed(corpus, settings, progress) as book:
        questions = derived_queries(book)[:QUESTIONS]
        result = Benchmark("answer", f"{len(questions)} questions on {corpus.name}")
        searches: list[float] = []
        answers: list[float] = []
        firsts: list[float] = []
        await book.library.ask(Ask(text=questions[0], book_id=book.book_id))
        for done, text in enumerate(questions, start=1):
            ask = Ask(text=text, book_id=book.book_id)
            with Stopwatch() as watch:
                await book.library.search(text, book_id=book.book_id)
            searches.append(watch.seconds)
            with Stopwatch() as watch:
                answer = await book.library.ask(ask)
            answers.append(watch.seconds)
            if answer.should_answer:
                with Stopwatch() as watch:
                    async for event in book.library.stream(ask):
                        if not isinstance(event, AnswerDone):
                            break
                firsts.append(watch.seconds)
            if progress:
                progress("asking", done, len(questions))
        result.add_latencies("search", searches)
        result.add_latencies("whole answer", answers, against="search")
        result.add_latencies("first sentence of a stream", firsts, against="whole answer")
    return result
