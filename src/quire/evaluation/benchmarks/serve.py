"""Serving: a real server process under readers who ask at once."""

from __future__ import annotations

import asyncio
import http.client
import json
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import closing
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
PAIRS = 200
DISTINCT = 50
_PAUSE_S = 0.01
"""Between two timed calls: the threads of the one before spin a little longer than it takes."""
_JSON = {"Content-Type": "application/json"}


async def bench_serve(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Serve the corpus's scratch index by `quire serve`; time searches, chats and streams."""
    result = Benchmark("serve", f"{REQUESTS} requests each on {corpus.name}")
    async with indexed(corpus, settings, progress) as book:
        queries = derived_queries(book)
        result.add("chunks in the book", float((await book.library.book(book.book_id)).chunks), "")
        proof = await provable(book, queries)
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as scratch:
        home = Path(scratch) / "home"
        shutil.copytree(scratch_folder(corpus, settings) / "home", home)
        async with serving(settings, home) as server:
            result.add("until the server is ready", server.started_in, "s")
            # the first answer also waits for what the server loads beside serving
            await server.client.post("/chat", json={"query": queries[0]})
            async with indexed(corpus, settings, progress) as book:
                await _in_turn(result, book, server.port, queries)
            for path, field in (("/search", "text"), ("/chat", "query")):
                name = path.strip("/")
                for readers in READERS:
                    times, seconds = await _load(server.client, path, field, queries, readers)
                    result.add_latencies(
                        f"{name}, {readers} at once",
                        times,
                        against=None if readers == 1 else f"{name}, 1 at once",
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


async def _in_turn(
    result: Benchmark, book: IndexedCorpus, port: int, queries: Sequence[str]
) -> None:
    """The same searches by library call and over HTTP, one after the other, on equal indices.

    The client is a bare connection that is kept open, so that what is added is the server's work.
    Every question is put once before it is timed: what the index reads for the first time would
    hide what HTTP adds.
    """
    library: list[float] = []
    served: list[float] = []
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        for number in range(PAIRS):
            query = queries[number % DISTINCT % len(queries)]
            body = json.dumps({"text": query})
            for timed in (False, True) if number < DISTINCT else (True,):
                await asyncio.sleep(_PAUSE_S)
                with Stopwatch() as call:
                    await book.library.search(query, book_id=book.book_id)
                await asyncio.sleep(_PAUSE_S)
                with Stopwatch() as request:
                    connection.request("POST", "/search", body, _JSON)
                    response = connection.getresponse()
                    said = response.read()
                if response.status != 200:
                    raise DependencyError(f"/search answered {response.status}: {said.decode()}")
                if timed:
                    library.append(call.seconds)
                    served.append(request.seconds)
    result.add_latencies("search, library call", library)
    result.add_latencies("search over HTTP", served, against="search, library call")
    added = [over - alone for alone, over in zip(library, served, strict=True)]
    result.add("HTTP adds, median of pairs", statistics.median(added) * 1000, "ms")


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
