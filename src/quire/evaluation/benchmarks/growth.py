"""Growth: what storing and searching cost as a book grows, on synthetic chunks."""

from __future__ import annotations

import random
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from quire.evaluation.benchmarks.machine import peak_memory_mb
from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.benchmarks.search import settle
from quire.evaluation.scratch import Progress, scratch_settings
from quire.index.finds import Question
from quire.index.lexical import Bm25
from quire.index.port import EmbedderInfo, Index, Point
from quire.models import Chunk
from quire.retrieval.ranking import rank
from quire.retrieval.searcher import Tuning
from quire.settings import Settings

DIMENSION = 384
QUERIES = 100
_TOP = 5
_BATCH = 512
_BOOK = "synthetic"
_WORDS_A_CHUNK = 120
_VOCABULARY = 30_000
_TOPICS = 2_000


async def bench_growth(
    settings: Settings,
    sizes: Sequence[int],
    *,
    books: int = 1,
    progress: Progress | None = None,
) -> Benchmark:
    """Fill an index of its own to each size; time the inserts, searches and the disk.

    With several books, chunks go to each in turn, and so do the searches.

    Vectors are drawn around topics and words follow Zipf's law, so that neighbours and
    common terms exist as in real text; nothing is embedded.
    """
    from quire.wiring.adapters import open_index

    result = Benchmark("growth", f"synthetic chunks, index alone, books: {books}")
    before = peak_memory_mb()
    with tempfile.TemporaryDirectory(prefix="quire-growth-") as scratch:
        home = Path(scratch) / "home"
        home.mkdir()
        index = await open_index(scratch_settings(settings, home))
        try:
            await index.prepare(EmbedderInfo("synthetic", DIMENSION))
            maker = _Maker(books)
            stored = 0
            for size in sorted(sizes):
                with Stopwatch() as filling:
                    for batch in maker.batches(stored, size):
                        await index.upsert(batch)
                        if progress:
                            progress(f"storing {size:,}", batch[-1].chunk.chunk_index + 1, size)
                    await index.commit()
                added, stored = size - stored, size
                result.add(f"stored a second up to {size:,}", added / filling.seconds, "1/s")
                await _searches(index, maker, size, result)
                result.add(f"disk at {size:,}", _disk_mb(home), "MB")
                result.add(f"memory added at {size:,}", peak_memory_mb() - before, "MB")
        finally:
            await index.close()
            shutil.rmtree(home, ignore_errors=True)
    return result


async def _searches(index: Index, maker: _Maker, size: int, result: Benchmark) -> None:
    """Each question by the engine alone, with everything it finds decoded; then as a search does.

    The second time a book has been searched before, so the index has its columns in memory.
    """
    engine: list[float] = []
    whole: list[float] = []
    tuning = Tuning()
    questions = [Question.of(text, vector) for vector, text in map(maker.query, range(QUERIES))]
    for number, question in enumerate(questions):
        with Stopwatch() as watch:
            await index.search(
                maker.book(number),
                dense=question.dense,
                bm25=question.bm25,
                limit=tuning.depth,
                with_vectors=True,
            )
        engine.append(watch.seconds)

    async def find(number: int) -> None:
        await index.find(
            maker.book(number),
            questions[number],
            limit=tuning.depth,
            choose=lambda finds: rank(finds, tuning.weights, _TOP),
        )

    first: list[float] = []
    for number in range(maker.books):
        with Stopwatch() as watch:
            await find(number)
        first.append(watch.seconds)
        await settle(index)
    for number in range(QUERIES):
        with Stopwatch() as watch:
            await find(number)
        whole.append(watch.seconds)
    result.add_latencies(f"engine, all decoded at {size:,}", engine)
    result.add_latencies(f"first find in a book at {size:,}", first)
    result.add_latencies(f"find and rank at {size:,}", whole)


class _Maker:
    """Draws chunks and queries; the same ones every time."""

    def __init__(self, books: int = 1) -> None:
        self.books = books
        generator = np.random.default_rng(7)
        self._topics = _unit(generator.normal(size=(_TOPICS, DIMENSION)))
        weights = 1.0 / np.arange(1, _VOCABULARY + 1)
        self._weights = np.cumsum(weights / weights.sum()).tolist()
        self._words = [f"w{number}" for number in range(_VOCABULARY)]
        self._lexical = Bm25()

    def book(self, number: int) -> str:
        """The book of this chunk or query."""
        return f"{_BOOK}-{number % self.books + 1}"

    def batches(self, start: int, stop: int) -> Iterator[list[Point]]:
        for first in range(start, stop, _BATCH):
            yield [self._point(number) for number in range(first, min(stop, first + _BATCH))]

    def query(self, number: int) -> tuple[np.ndarray, str]:
        words = self._draw(random.Random(-number - 1), 8)
        return self._vector(10_000_000 + number), " ".join(words)

    def _point(self, number: int) -> Point:
        text = " ".join(self._draw(random.Random(number), _WORDS_A_CHUNK))
        chunk = _chunk(number, self.book(number), text)
        return Point(chunk, self._vector(number), self._lexical.document(text))

    def _vector(self, number: int) -> np.ndarray:
        generator = np.random.default_rng(number)
        noise = generator.normal(size=DIMENSION) / np.sqrt(DIMENSION)
        return _unit(self._topics[number % _TOPICS] + noise).astype(np.float32)

    def _draw(self, generator: random.Random, count: int) -> list[str]:
        return generator.choices(self._words, cum_weights=self._weights, k=count)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _chunk(number: int, book_id: str, text: str) -> Chunk:
    page = number // 20
    return Chunk(
        id=str(uuid.UUID(int=number + 1)),
        text=text,
        book_id=book_id,
        source_file=f"m{page % 50}/p{page}.md",
        module=f"m{page % 50}",
        chapter=page % 20,
        lesson=page % 15,
        page_title=f"Page {page}",
        section_title=None,
        section_path=(),
        breadcrumb=f"Page {page}",
        source_url=f"/m{page % 50}/p{page}",
        language="en",
        hardware_tier=1,
        proficiency_level="A2",
        layer="L1",
        char_start=0,
        char_end=len(text),
        line_start=1,
        line_end=1,
        parent_doc_id=str(uuid.UUID(int=page + 1)),
        chunk_index=number,
        total_chunks=20,
        prev_chunk_id=None,
        next_chunk_id=None,
        content_hash=f"{number:064x}",
        source_file_hash=f"{page:064x}",
        embedded_hash=f"{number:064x}",
        word_count=_WORDS_A_CHUNK,
        token_count=_WORDS_A_CHUNK,
        char_count=len(text),
    )


def _disk_mb(folder: Path) -> float:
    blocks = sum(p.stat().st_blocks * 512 for p in folder.rglob("*") if p.is_file())
    return blocks / 2**20
