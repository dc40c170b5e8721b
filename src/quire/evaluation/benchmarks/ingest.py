"""Ingestion: a whole book, the same book again, and after one edit."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from quire.books import load_book
from quire.embedding.port import Embedder
from quire.errors import PageRejected
from quire.evaluation.benchmarks.machine import peak_memory_mb
from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.corpus import find_corpus
from quire.evaluation.scratch import Progress, scratch_settings
from quire.ingestion.drafts import TARGET_TOKENS
from quire.ingestion.identity import LessonKeys
from quire.ingestion.pages import Skipped, read_page
from quire.ingestion.pipeline import BATCH_TEXTS
from quire.ingestion.scan import scan
from quire.ingestion.splitting import chunk_page
from quire.settings import Settings

_SPLIT_RUNS = 3
_EDIT = "\n\nThis sentence was added by a benchmark, to see what one edit costs.\n"


async def bench_ingest(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Ingest a copy of a corpus into an empty home, then again, then with one page edited.

    Before that its parts alone: reading and splitting on one core, and embedding the same texts
    in the same batches. The whole should take hardly longer than the embedding. Each is given by
    the clock and in processor time, which hardly knows of what else the machine does.
    """
    from quire.wiring import Library

    result = Benchmark("ingest", corpus.name)
    stages = 4
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as scratch:
        folder = Path(scratch)
        source = find_corpus(corpus, pages=folder / "documents")
        book = folder / "book"
        shutil.copytree(source.root, book)
        async with Library.open(scratch_settings(settings, folder / "home")) as library:
            await library.warm()
            size, texts = _split_alone(book, library.embedder, result)
            with Stopwatch() as embedding:
                for first in range(0, len(texts), BATCH_TEXTS):
                    await library.embedder.embed_documents(texts[first : first + BATCH_TEXTS])
            result.add("embedding alone", embedding.seconds, "s")
            result.add("embedding alone, processor", embedding.processor, "s")
            if progress:
                progress("embedding", 1, stages)
            with Stopwatch() as whole:
                job = await library.ingest(book)
            if progress:
                progress("ingesting", 2, stages)
            chunks = max(1, job.chunks_created)
            result.add("pages", float(job.files_processed), "")
            result.add("chunks", float(job.chunks_created), "")
            result.add("source", size / 1e6, "MB")
            result.add("whole book", whole.seconds, "s", against="embedding alone")
            result.add(
                "whole book, processor",
                whole.processor,
                "s",
                against="embedding alone, processor",
            )
            result.add("chunks a second", chunks / whole.seconds, "1/s")
            with Stopwatch() as again:
                job = await library.ingest(book)
            result.add("again, nothing changed", again.seconds, "s", against="whole book")
            result.add("chunks embedded again", float(job.embedded), "")
            if progress:
                progress("ingesting", 3, stages)
            page = max(
                (path for path in book.rglob("*.md*") if path.is_file()),
                key=lambda path: path.stat().st_size,
            )
            page.write_text(page.read_text(encoding="utf-8") + _EDIT, encoding="utf-8")
            with Stopwatch() as edited:
                job = await library.ingest(book)
            result.add("after one edit", edited.seconds, "s", against="whole book")
            result.add("chunks embedded after one edit", float(job.embedded), "")
        result.add("peak memory of the process", peak_memory_mb(), "MB")
        result.add("index on disk", _size_mb(folder / "home" / "index"), "MB")
        result.add("source on disk", _size_mb(book), "MB")
    if progress:
        progress("ingesting", stages, stages)
    return result


def _split_alone(root: Path, embedder: Embedder, result: Benchmark) -> tuple[int, list[str]]:
    """Read and split every page a few times; the size in bytes, and all texts to embed."""
    book = load_book(root)
    files = scan(book, {}).sources
    lessons = LessonKeys.from_files(book, files)
    size, texts = 0, list[str]()
    spent: list[float] = []
    for _ in range(_SPLIT_RUNS):
        size, texts = 0, list[str]()
        with Stopwatch() as watch:
            for name in files:
                data = (root / name).read_bytes()
                try:
                    page = read_page(book, name, data)
                except PageRejected:
                    continue
                if isinstance(page, Skipped):
                    continue
                size += len(data)
                texts += chunk_page(
                    book,
                    page,
                    max_tokens=min(TARGET_TOKENS, embedder.max_tokens),
                    count_tokens=embedder.count_tokens,
                    identity=lessons,
                ).embedded
        spent.append(watch.processor)
    result.add("reading and splitting alone, a core", size / 1e6 / min(spent), "MB/s")
    return size, texts


def _size_mb(folder: Path) -> float:
    blocks = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    return blocks / 2**20
