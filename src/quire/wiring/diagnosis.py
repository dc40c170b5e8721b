"""What `quire doctor` looks at, one check after the other; a failed one doesn't stop the rest."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from quire import __version__
from quire.embedding.store import ModelStore
from quire.errors import QuireError
from quire.settings import Settings
from quire.wiring.library import Library

LEAST_FREE_BYTES = 500_000_000
REPORTED = ("onnxruntime", "qdrant-edge-py", "fastapi", "openai-agents", "sqlalchemy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the report."""

    name: str
    ok: bool
    message: str
    fix: str | None = None


async def diagnose(settings: Settings) -> list[Check]:
    """All checks, in the order a person would look."""
    checks = [versions(), disk(settings), models(settings)]
    try:
        async with Library.open(settings) as library:
            checks += [await index(library), await database(library)]
            checks += await books(library)
    except QuireError as error:
        checks.append(Check(name="library", ok=False, message=error.message))
    return checks


def versions() -> Check:
    """What is installed."""
    found: list[str] = []
    for name in REPORTED:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} missing")
    return Check(
        name="versions",
        ok=not any(entry.endswith("missing") for entry in found),
        message=f"quire {__version__}, Python {platform.python_version()}, {', '.join(found)}",
        fix=None,
    )


def disk(settings: Settings) -> Check:
    """Room in the data folder."""
    folder = settings.home
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    ok = free >= LEAST_FREE_BYTES
    return Check(
        name="disk",
        ok=ok,
        message=f"{free / 1e9:.1f} GB free at {settings.home}",
        fix=None if ok else "free some space, or set QUIRE_HOME to another disk",
    )


def models(settings: Settings) -> Check:
    """The local embedder's files."""
    if settings.embedder != "minilm":
        return Check(name="model", ok=True, message=f"{settings.embedder} (remote)")
    status = ModelStore(settings.models_path, source=settings.model_source).status()
    return Check(
        name="model",
        ok=status.problem is None,
        message=f"{status.name}: {status.problem or 'ready'}",
        fix=None if status.problem is None else "quire models pull",
    )


async def index(library: Library) -> Check:
    """The vector store and the embedder it was built with."""
    stored = await library.index.embedder()
    configured = library.embedder.name
    if stored is None:
        return Check(name="index", ok=True, message="empty", fix="quire ingest PATH")
    ok = stored.name == configured
    return Check(
        name="index",
        ok=ok,
        message=f"built with {stored.name}" + ("" if ok else f", but {configured} is configured"),
        fix=None if ok else "set QUIRE_EMBEDDER back, or: quire ingest PATH --mode recreate",
    )


async def database(library: Library) -> Check:
    """The relational store."""
    await library.database.ping()
    return Check(name="database", ok=True, message=f"{library.database.dialect} answers")


async def books(library: Library) -> list[Check]:
    """Each book: does the index hold exactly what was recorded?"""
    checks: list[Check] = []
    for book in await library.books():
        stored = await library.index.count(book.id)
        ok = stored == book.chunks
        checks.append(
            Check(
                name="book",
                ok=ok,
                message=f"{book.id}: {book.pages} pages, {stored} chunks"
                + ("" if ok else f" in the index, {book.chunks} recorded"),
                fix=None if ok else "quire ingest PATH (it mends what is out of step)",
            )
        )
    return checks
