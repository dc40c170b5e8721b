"""Serving: a real server process under readers who ask at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quire.errors import DependencyError
from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.benchmarks.search import derived_queries
from quire.evaluation.benchmarks.server_process import serving
from quire.evaluation.benchmarks.streams import measure_streams, provable
from quire.evaluation.scratch import IndexedCorpus, Progress, indexed, scratch_folder
from quire.settings import Settings

if TYPE_CHECKING:
    import httpx

READERS = (1, 8, 32)
REQUESTS = 64


async def bench_serve(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Serve the corpus's scratch index by `quire serve`; time searches, chats and streams."""
    result = Benchmark("serve", f"{REQUESTS} requests each on {corpus.name}")
    async with indexed(corpus, settings, progress) as book:
        queries = derived_queries(book)
        result.add("chunks in the book", float((await book.library.book(book.book_id)).chunks), "")
        result.add_latencies("search, library call", await _calls(book, queries))
        proof = await provable(book, queries)
    home = scratch_folder(corpus, settings) / "home"
    async with serving(settings, home) as server:
        result.add("until the server is ready", server.started_in, "s")
        for path, field in (("/search", "text"), ("/chat", "query")):
            name = path.strip("/")
            for readers in READERS:
                times, seconds = await _load(server.client, path, field, queries, readers)
                result.add_latencies(
                    f"{name}, {readers} at once", times, against=_baseline(name, readers)
                )
                result.add(
                    f"{name} requests a second, {readers} at once",
                    len(times) / seconds,
                    "1/s",
                    against=None if readers == 1 else f"{name} requests a second, 1 at once",
                )
                if progress:
                    progress(f"serving {name}", READERS.index(readers) + 1, len(READERS))
    await measure_streams(result, settings, home, proof, progress=progress)
    return result


def _baseline(name: str, readers: int) -> str | None:
    if readers > 1:
        return f"{name}, 1 at once"
    return "search, library call" if name == "search" else None


async def _calls(book: IndexedCorpus, queries: Sequence[str]) -> list[float]:
    """The same searches without a server between."""
    times: list[float] = []
    await book.library.search(queries[0], book_id=book.book_id)
    for number in range(REQUESTS):
        with Stopwatch() as watch:
            await book.library.search(queries[number % len(queries)], book_id=book.book_id)
        times.append(watch.seconds)
    return times


async def _load(
    client: httpx.AsyncClient,
    path: str,
    field: str,
    queries: Sequence[str],
    readers: int,
) -> tuple[list[float], float]:
    await client.post(path, json={field: queries[0]})
    queue = [queries[n % len(queries)] for n in reversed(range(REQUESTS))]
    times: list[float] = []

    async def reader() -> None:
        while queue:
            body = {field: queue.pop()}
            with Stopwatch() as watch:
                response = await client.post(path, json=body)
            if response.status_code != 200:
                raise DependencyError(f"{path} answered {response.status_code}: {response.text}")
            times.append(watch.seconds)

    with Stopwatch() as whole:
        await asyncio.gather(*(reader() for _ in range(readers)))
    return times, whole.seconds
