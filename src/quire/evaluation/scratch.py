"""A corpus in an index of its own, kept between runs and renewed when what made it changes."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quire.books import load_book
from quire.errors import DependencyError
from quire.evaluation.corpus import Corpus, find_corpus
from quire.settings import Settings

if TYPE_CHECKING:
    from quire.ingestion.jobs import IngestionJob
    from quire.ingestion.progress import ProgressCallback
    from quire.wiring import Library

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done and of how much (0 when unknown)."""

_READING = ("books", "ingestion")
"""The packages whose code decides which chunks there are; vectors of unchanged texts stay."""
_STORING = ("index",)
"""The package whose code decides how chunks are stored: a change means starting over."""


@dataclass(frozen=True, slots=True)
class IndexedCorpus:
    """A corpus that can be searched and asked."""

    corpus: Corpus
    library: Library
    book_id: str
    ingestion: dict[str, Any]
    """What the last ingestion reported (files, chunks, seconds)."""


@asynccontextmanager
async def indexed(
    path: Path, settings: Settings, progress: Progress | None = None
) -> AsyncGenerator[IndexedCorpus]:
    """Open the corpus's scratch index, ingesting what changed since the last run.

    Only one process uses a scratch index at a time; others wait for it.
    """
    from filelock import AsyncFileLock, Timeout

    from quire.wiring import Library

    folder = scratch_folder(path, settings)
    folder.mkdir(parents=True, exist_ok=True)
    lock = AsyncFileLock(folder.with_suffix(".lock"))
    try:
        await lock.acquire(timeout=0)
    except Timeout:
        if progress:
            progress("waiting for another run on this corpus", 0, 0)
        await lock.acquire()
    try:
        stored = _Note(folder / "storing").holds(storing_key(settings))
        if not stored:
            shutil.rmtree(folder / "home", ignore_errors=True)
            _Note(folder / "storing").write(storing_key(settings))
        corpus = find_corpus(path, pages=folder / "pages")
        async with Library.open(scratch_settings(settings, folder / "home")) as library:
            told = _ingestion_progress(progress)
            if stored and not _Note(folder / "reading").holds(code_key(_READING)):
                await library.ingester.repair(load_book(corpus.root), progress=told)
            job = await library.ingest(corpus.root, progress=told)
            if job.status != "completed":
                raise DependencyError(f"'{path}' was not ingested: {job.error_message}")
            # again, since the first use of a model brings its files
            _Note(folder / "storing").write(storing_key(settings))
            _Note(folder / "reading").write(code_key(_READING))
            yield IndexedCorpus(
                corpus=corpus, library=library, book_id=job.book_id, ingestion=_facts(job)
            )
    finally:
        await lock.release()


@dataclass(frozen=True, slots=True)
class _Note:
    """A key kept in a file beside what was made under it."""

    path: Path

    def holds(self, key: str) -> bool:
        return self.path.is_file() and self.path.read_text() == key

    def write(self, key: str) -> None:
        self.path.write_text(key)


def scratch_folder(path: Path, settings: Settings) -> Path:
    """Where the scratch index of a corpus lives; one per corpus path and embedder."""
    resolved = path.expanduser().resolve()
    digest = hashlib.sha256(f"{resolved}\0{settings.embedder}".encode()).hexdigest()[:12]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(resolved.parts[-2:])).strip("-")[-60:]
    return settings.home / "evaluations" / "scratch" / f"{slug}-{digest}"


def scratch_settings(settings: Settings, home: Path) -> Settings:
    """The same settings over an embedded store of their own; models are shared."""
    return settings.model_copy(
        update={
            "home": home,
            "models": settings.models_path,
            "database_url": None,
            "redis_url": None,
            "qdrant_url": None,
        }
    )


def storing_key(settings: Settings) -> str:
    """Changes with the embedder, its model files and the code of the index."""
    manifests = sorted(settings.models_path.rglob("manifest.json"))
    parts = [
        settings.embedder,
        settings.embedder_precision,
        settings.cohere_model,
        *(hashlib.sha256(file.read_bytes()).hexdigest() for file in manifests),
        code_key(_STORING),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def code_key(packages: tuple[str, ...]) -> str:
    """Changes with every line of these packages."""
    spec = find_spec("quire")
    assert spec is not None
    assert spec.origin is not None
    digest = hashlib.sha256()
    for name in packages:
        for file in sorted((Path(spec.origin).parent / name).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _ingestion_progress(progress: Progress | None) -> ProgressCallback | None:
    if progress is None:
        return None
    return lambda now: progress("ingesting", now.files_done, now.files_total)


def _facts(job: IngestionJob) -> dict[str, Any]:
    return {
        "pages": job.files_discovered,
        "pages_failed": job.files_failed,
        "chunks_created": job.chunks_created,
        "embedded": job.embedded,
    }
