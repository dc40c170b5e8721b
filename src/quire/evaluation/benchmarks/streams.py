"""A thousand readers at once, each with a stream of its own, on one server process.

The language model is a stub that takes its time: what is measured is what the server holds and
whether every answer arrives whole, not how fast a model writes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from quire.errors import DependencyError
from quire.evaluation.benchmarks.machine import memory_mb
from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.benchmarks.server_process import ServerProcess, serving
from quire.evaluation.scratch import IndexedCorpus, Progress
from quire.settings import Settings
from quire.testing.answering import draft_json
from quire.testing.llm import Request, StubReply, calls_tool, has_passages, last_question, serve

STREAMS = 1000
MODEL_SECONDS = 0.5
"""How long the stub thinks before it writes, and between two pieces."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A question and a sentence of the book that answers it."""

    question: str
    sentence: str
    passage: int


async def provable(book: IndexedCorpus, queries: Sequence[str]) -> Proof:
    """A question whose answer the book's own words prove."""
    from quire.wiring import Ask

    for query in queries:
        answer = await book.library.ask(Ask(text=query, book_id=book.book_id))
        for citation in answer.citations:
            for passage in answer.passages:
                if passage.chunk.id == citation.chunk_id and "\n" not in citation.quote:
                    return Proof(query, citation.quote, passage.number)
    raise DependencyError("the book answers none of its own headings")


async def measure_streams(
    result: Benchmark,
    settings: Settings,
    home: Path,
    proof: Proof,
    *,
    progress: Progress | None = None,
) -> None:
    """Open all streams together, read each to its end, and note what the server held."""
    draft = draft_json((proof.sentence, [proof.passage]))

    def reply(request: Request) -> StubReply:
        if has_passages(request):
            return StubReply(text=draft, delay=MODEL_SECONDS)
        return calls_tool(last_question(request))

    async with serve(reply) as model:
        options = {
            "QUIRE_MODEL": "openai",
            "OPENAI_API_KEY": "unused",
            "OPENAI_BASE_URL": model.base_url,
            "QUIRE_OPENAI_API": "chat",
            "QUIRE_MODEL_TIMEOUT": "120",
            "QUIRE_MAX_REQUESTS": str(STREAMS),
        }
        async with serving(settings, home, **options) as server:
            first = await _read(server, proof.question)
            if not first:
                raise DependencyError("a single stream is not complete")
            before = memory_mb(server.pid)
            if progress:
                progress("streams", 0, STREAMS)
            with Stopwatch() as watch:
                whole = await asyncio.gather(
                    *(_read(server, proof.question) for _ in range(STREAMS))
                )
            peak = memory_mb(server.pid, "VmHWM")
    result.add("streams at once", float(STREAMS), "")
    result.add("streams incomplete", float(whole.count(False)), "")
    result.add("streams, until the last one ends", watch.seconds, "s")
    result.add("server memory, one stream before", before, "MB")
    result.add("server memory, most", peak, "MB", against="server memory, one stream before")


async def _read(server: ServerProcess, question: str) -> bool:
    """Whether a stream has a sentence, its sources and its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        body = json.dumps({"query": question}).encode()
        writer.write(
            b"POST /chat/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        await writer.drain()
        said = await reader.read(-1)
    except ConnectionError:
        return False
    finally:
        writer.close()
    order = [said.find(b"event: " + kind) for kind in (b"chunk", b"sources", b"done")]
    return -1 not in order and order == sorted(order) and said.endswith(b"0\r\n\r\n")
