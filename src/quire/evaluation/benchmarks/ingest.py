"""Ingestion: a whole book, the same book again, and after one edit."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from quire.evaluation.benchmarks.machine import peak_memory_mb
from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.corpus import find_corpus
from quire.evaluation.scratch import Progress, scratch_settings
from quire.settings import Settings

_EDIT = "\n\nThis sentence was added by a benchmark, to see what one edit costs.\n"


async def bench_ingest(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Ingest a copy of a corpus into an empty home, then again, then with one page edited."""
    from quire.wiring import Library

    result = Benchmark("ingest", corpus.name)
    stages = 3
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as scratch:
        folder = Path(scratch)
        source = find_corpus(corpus, pages=folder / "documents")
        book = folder / "book"
        shutil.copytree(source.root, book)
        async with Library.open(scratch_settings(settings, folder / "home")) as library:
            await library.warm()
            with Stopwatch() as whole:
                job = await library.ingest(book)
            if progress:
                progress("ingesting", 1, stages)
            chunks = max(1, job.chunks_created)
            result.add("pages", float(job.files_processed), "")
            result.add("chunks", float(job.chunks_created), "")
            result.add("whole book", whole.seconds, "s")
            result.add("chunks a second", chunks / whole.seconds, "1/s")
            with Stopwatch() as again:
                await library.ingest(book)
            result.add("again, nothing changed", again.seconds, "s", against="whole book")
            if progress:
                progress("ingesting", 2, stages)
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


def _size_mb(folder: Path) -> float:
    blocks = sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
    return blocks / 2**20
