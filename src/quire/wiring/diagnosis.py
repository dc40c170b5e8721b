"""What `quire doctor` looks at, one check after the other; a failed one doesn't stop the rest."""

from __future__ import annotations

import platform
import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from quire import __version__
from quire.books import load_book
from quire.embedding.store import ModelStore
from quire.errors import QuireError
from quire.ingestion.invariants import check_chunks
from quire.ingestion.progress import Report
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


async def diagnose(settings: Settings, *, repair: bool = False) -> list[Check]:
    """All checks, in the order a person would look; `repair` mends the books first."""
    checks = [versions(), disk(settings), models(settings)]
    try:
        async with Library.open(settings) as library:
            checks += [await index(library), await database(library)]
            if repair:
                checks += await repairs(library)
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


async def repairs(library: Library) -> list[Check]:
    """Each book brought back in line with its files, and what that took."""
    checks: list[Check] = []
    for book_id in await library.state.book_ids():
        try:
            report = await repair(library, book_id)
        except QuireError as error:
            checks.append(Check(name="repair", ok=False, message=f"{book_id}: {error.message}"))
            continue
        checks.append(
            Check(
                name="repair",
                ok=not report.errors,
                message=f"{book_id}: {report.chunks_created} chunks written, "
                f"{report.chunks_deleted} removed, {report.embedded} embedded",
            )
        )
    return checks


async def books(library: Library) -> list[Check]:
    """Each book: does the index hold exactly what was recorded, as sound chunks?"""
    checks: list[Check] = []
    for book in await library.books():
        problems = await verify(library, book.id)
        checks.append(
            Check(
                name="book",
                ok=not problems,
                message=f"{book.id}: {book.pages} pages, {book.chunks} chunks"
                + (f"; {len(problems)} problems, the first: {problems[0]}" if problems else ""),
                fix="quire doctor --repair" if problems else None,
            )
        )
        checks += await failures(library, book.id)
    return checks


async def failures(library: Library, book_id: str) -> list[Check]:
    """The pages that the book's last ingest could not take in."""
    for job in await library.jobs.find(book_id=book_id, limit=1):
        if job.errors:
            first = job.errors[0]
            count = f"{len(job.errors)} pages" if len(job.errors) > 1 else "a page"
            return [
                Check(
                    name="pages",
                    ok=False,
                    message=f"{book_id}: {count} failed in the last ingest, first "
                    f"{first['source_file']}: {first['message']}",
                    fix=f"mend it, then: quire ingest {job.root}",
                )
            ]
    return []


async def repair(library: Library, book_id: str) -> Report:
    """Compare files, records and index of a book in full and mend every difference."""
    state = await library.book_state(book_id)
    return await library.ingester.repair(load_book(Path(state.root), book_id=book_id))


async def verify(library: Library, book_id: str) -> list[str]:
    """What is wrong with a book as the index holds it; nothing when all is sound."""
    state = await library.book_state(book_id)
    chunks = [chunk async for chunk in library.shelf.chunks(book_id)]
    recorded = {id_ for record in state.records.values() for id_ in record.chunk_ids}
    stored = {chunk.id for chunk in chunks}
    problems = check_chunks(chunks)
    problems += [f"chunk {id_} is recorded but not in the index" for id_ in recorded - stored]
    problems += [f"chunk {id_} is in the index but not recorded" for id_ in stored - recorded]
    if not state.settled:
        problems.append("the last ingest did not finish")
    return problems
