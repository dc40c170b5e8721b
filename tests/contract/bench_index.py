"""How fast the embedded index is: `python -m tests.contract.bench_index [chunks] [books]`.

Prints one line per figure. Vectors have MiniLM's length and texts a chunk's; their content is
generated, so the figures are about speed, not about quality.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from quire.index.edge import EdgeIndex
from quire.index.lexical import Bm25
from quire.index.port import EmbedderInfo, Point
from quire.models import Filters
from tests.contract.index_suite import make_chunk

DIMENSION = 384
BM25 = Bm25()
CHANCE = random.Random(1)
VECTORS = np.random.default_rng(1)
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "bdklmnrstx"] * 12
WEIGHTS = [1 / (rank + 3) for rank in range(len(WORDS))]


def text(words: int) -> str:
    return " ".join(CHANCE.choices(WORDS, WEIGHTS, k=words))


def point(number: int, book: str) -> Point:
    chunk = make_chunk(number, text(150), book)
    return Point(chunk, vector(), BM25.document(chunk.text))


def vector() -> NDArray[np.float32]:
    raw = VECTORS.standard_normal(DIMENSION).astype(np.float32)
    return (raw / np.linalg.norm(raw)).astype(np.float32)


def memory() -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    kept = [line.split() for line in lines if line.startswith(("VmRSS", "RssAnon"))]
    return ", ".join(f"{name[:-1]} {int(size) // 1024} MB" for name, size, _ in kept)


async def timed(name: str, call: Callable[[], Awaitable[object]], repeats: int = 200) -> None:
    """Time on the clock and on the processor: the second stands still while others compute."""
    spent: list[float] = []
    busy: list[float] = []
    for _ in range(repeats):
        started, worked = time.perf_counter(), time.process_time()
        await call()
        spent.append((time.perf_counter() - started) * 1000)
        busy.append((time.process_time() - worked) * 1000)
    late = sorted(spent)[int(repeats * 0.95)]
    print(f"{name:34} p50 {median(spent):6.2f} p95 {late:6.2f} CPU {median(busy):6.2f} ms")


async def bench(root: Path, chunks: int, books: int) -> None:
    names = [f"book-{number}" for number in range(books)]
    index = await EdgeIndex.open(root)
    await index.prepare(EmbedderInfo("bench", DIMENSION))
    print(f"{chunks} chunks in {books} book(s); at start {memory()}")
    writing = 0.0
    for start in range(0, chunks // books, 256):
        for book in names:
            points = [point(n, book) for n in range(start, min(start + 256, chunks // books))]
            started = time.process_time()
            await index.upsert(points)
            writing += time.process_time() - started
    started = time.perf_counter()
    await index.commit()
    committing = time.perf_counter() - started
    print(
        f"upsert {chunks / writing:.0f} points per CPU second, "
        f"commit {committing * 1000:.0f} ms, {memory()}"
    )

    async def search(**options: object) -> None:
        settings = {"dense": vector(), "bm25": BM25.query(text(8)), "limit": 50, **options}
        await index.search(CHANCE.choice(names), **settings)  # pyright: ignore[reportArgumentType]

    tier = Filters(hardware_tier=2, proficiency_levels=("A1", "A2"))
    await timed("hybrid 50 + 50, cache filling", search)
    await timed("hybrid 50 + 50", search)
    await timed("hybrid 50 + 50, tier and level", lambda: search(filters=tier))
    await timed(
        "hybrid 50 + 50, one page", lambda: search(filters=Filters(chapter_min=3, chapter_max=3))
    )
    await timed("hybrid 50 + 50, with vectors", lambda: search(with_vectors=True))
    await timed("dense only", lambda: search(bm25=None))
    await timed("bm25 only", lambda: search(dense=None))
    changed = replace(make_chunk(1, text(150), names[0]), version=2)

    async def edit() -> None:
        await index.update_chunks([changed])
        await index.commit()

    await timed("one chunk changed and committed", edit, 50)
    started = time.perf_counter()
    await asyncio.gather(*(search() for _ in range(200)))
    print(f"{200 / (time.perf_counter() - started):.0f} searches/s with 200 at once, {memory()}")
    started = time.perf_counter()
    await index.close()
    closed = time.perf_counter()
    index = await EdgeIndex.open(root)
    await index.books()
    print(
        f"close {closed - started:.2f} s, open with all books {time.perf_counter() - closed:.2f} s"
    )
    await index.close()


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(bench(Path(folder), *(numbers or (6000, 1))))
