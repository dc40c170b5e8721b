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

from quire.evaluation.corpus import Corpus, find_corpus
from quire.settings import Settings

if TYPE_CHECKING:
    from quire.wiring import Library

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how much is done and of how much (0 when unknown)."""

_PIPELINE = ("books", "ingestion", "embedding", "index")
"""The packages whose code decides what an index holds."""


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
    from filelock import AsyncFileLock

    from quire.wiring import Library

    folder = scratch_folder(path, settings)
    folder.mkdir(parents=True, exist_ok=True)
    async with AsyncFileLock(folder.with_suffix(".lock")):
        _renew(folder, pipeline_key(settings))
        corpus = find_corpus(path, pages=folder / "pages")
        async with Library.open(scratch_settings(settings, folder / "home")) as library:
            job = await library.ingest(corpus.root, progress=_ingestion_progress(progress))
            yield IndexedCorpus(
                corpus=corpus, library=library, book_id=job.book_id, ingestion=_facts(job)
            )


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


def pipeline_key(settings: Settings) -> str:
    """Changes with the embedder and with the code that reads, splits, embeds and stores."""
    digest = hashlib.sha256(
        json.dumps([settings.embedder, settings.embedder_precision, settings.cohere_model]).encode()
    )
    spec = find_spec("quire")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    for name in _PIPELINE:
        for file in sorted((package / name).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _renew(folder: Path, key: str) -> None:
    """Empty the folder unless it was made by this very pipeline."""
    note = folder / "pipeline"
    if note.is_file() and note.read_text() == key:
        return
    shutil.rmtree(folder / "home", ignore_errors=True)
    note.write_text(key)


def _ingestion_progress(progress: Progress | None) -> Callable[[Any], None] | None:
    if progress is None:
        return None

    def report(event: Any) -> None:
        progress(
            "ingesting",
            int(getattr(event, "files_done", 0) or 0),
            int(getattr(event, "files_total", 0) or 0),
        )

    return report


def _facts(job: Any) -> dict[str, Any]:
    names = ("files_processed", "files_failed", "chunks_created", "embedded")
    return {name: getattr(job, name) for name in names if hasattr(job, name)}
