"""Search: what each part of it takes, alone and side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.derivation import derive
from quire.evaluation.outline import Outline
from quire.evaluation.scratch import IndexedCorpus, Progress, indexed
from quire.index.edge import EdgeIndex
from quire.index.finds import Finds, Question
from quire.index.port import Index
from quire.retrieval.searcher import Tuning
from quire.settings import Settings

QUERIES = 200
_DEPTH = Tuning().depth
_AT_ONCE = 8
_NEEDED = "embedding and finding"
"""What no search can do without."""


@dataclass(frozen=True, slots=True)
class _Best:
    """A choice that takes no time: the five nearest."""

    finds: Finds

    @property
    def rows(self) -> range:
        return range(min(5, len(self.finds)))


async def settle(index: Index) -> None:
    """Wait until the embedded index has in memory what it reads in the background."""
    if isinstance(index, EdgeIndex):
        await index.settled()


async def bench_search(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Time questions derived from the corpus: whole searches, and their parts."""
    async with indexed(corpus, settings, progress) as book:
        queries = derived_queries(book)[:QUERIES]
        result = Benchmark("search", f"{len(queries)} questions on {corpus.name}")
        result.add("chunks", float(await book.library.index.count(book.book_id)), "")
        await _parts(book, queries, result)
        await _together(book, queries, result)
    return result


def derived_queries(book: IndexedCorpus) -> list[str]:
    """Questions made from the book's own headings, spread over its pages."""
    outline = Outline(book.corpus.root)
    texts = [
        question.text
        for page in outline.pages()
        for question in derive(page, outline.sections(page.source_file))
    ]
    step = max(1, len(texts) // QUERIES)
    return texts[::step] or ["What is this book about?"]


async def _parts(book: IndexedCorpus, queries: Sequence[str], result: Benchmark) -> None:
    library = book.library
    asked = [Question.of(q, await library.embedder.embed_query(q)) for q in queries]
    numbers = range(len(queries))

    async def whole(n: int) -> object:
        return await library.search(queries[n], book_id=book.book_id)

    async def embedding(n: int) -> object:
        return await library.embedder.embed_query(queries[n])

    async def finding(n: int) -> object:
        return await library.index.find(book.book_id, asked[n], limit=_DEPTH, choose=_Best)

    async def hybrid(n: int) -> object:
        return await library.index.search(
            book.book_id, dense=asked[n].dense, bm25=asked[n].bm25, limit=_DEPTH, with_vectors=True
        )

    async def dense(n: int) -> object:
        return await library.index.search(
            book.book_id, dense=asked[n].dense, bm25=None, limit=_DEPTH
        )

    async def bm25(n: int) -> object:
        return await library.index.search(
            book.book_id, dense=None, bm25=asked[n].bm25, limit=_DEPTH
        )

    parts: dict[str, Callable[[int], Awaitable[object]]] = {
        "whole search": whole,
        "embedding the question": embedding,
        "finding": finding,
        "engine, all decoded": hybrid,
        "engine, dense alone": dense,
        "engine, BM25 alone": bm25,
    }
    for n in numbers:  # what is measured is a service that has been running
        await whole(n)
    await settle(library.index)
    times: dict[str, list[float]] = {name: [] for name in parts}
    for n in numbers:  # side by side, so that other work on the machine meets all alike
        for name, work in parts.items():
            times[name].append(await _timed(work, n))
    for name, work in parts.items():
        result.add_latencies(name, times[name], against=None if work is whole else "whole search")
    pairs = zip(times["embedding the question"], times["finding"], strict=True)
    result.add_latencies(_NEEDED, [sum(pair) for pair in pairs])
    medians = {row.what: row.value for row in result.rows}
    result.add(
        "whole search p50, once more", medians["whole search p50"], "ms", against=f"{_NEEDED} p50"
    )


async def _together(book: IndexedCorpus, queries: Sequence[str], result: Benchmark) -> None:
    """Throughput of one reader, and of several at once; and of the embedder, which bounds it."""
    library = book.library

    async def search(query: str) -> object:
        return await library.search(query, book_id=book.book_id)

    for readers in (1, _AT_ONCE):
        for name, work in (
            ("questions embedded", library.embedder.embed_query),
            ("searches", search),
        ):
            watch = await _all(work, queries, readers)
            for figure, value, unit in (
                ("a second", len(queries) / watch.seconds, "1/s"),
                ("in processor time each", watch.processor / len(queries) * 1000, "ms"),
            ):
                least = f"questions embedded {figure}, {readers} at once"
                against = None if name != "searches" else least
                result.add(f"{name} {figure}, {readers} at once", value, unit, against=against)


async def _all(
    work: Callable[[str], Awaitable[object]], queries: Sequence[str], readers: int
) -> Stopwatch:
    queue = list(queries)

    async def reader() -> None:
        while queue:
            await work(queue.pop())

    with Stopwatch() as watch:
        await asyncio.gather(*(reader() for _ in range(readers)))
    return watch


async def _timed(work: Callable[[int], Awaitable[object]], number: int) -> float:
    with Stopwatch() as watch:
        await work(number)
    return watch.seconds
