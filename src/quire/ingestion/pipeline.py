"""Bringing an index in line with a book's files: read, split, embed and write, overlapping."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.books import Book
from quire.concurrency import uninterrupted
from quire.embedding.port import Embedder
from quire.index.lexical import Bm25
from quire.index.port import Index, Point, SparseVector
from quire.ingestion.drafts import TARGET_TOKENS, Batch, Drafting, Task, identity_of
from quire.ingestion.identity import LessonKeys
from quire.ingestion.ledger import Ledger
from quire.ingestion.ownership import Ownership
from quire.ingestion.plan import Plan, plan
from quire.ingestion.progress import FileError, Meter
from quire.ingestion.scan import Scan, scan
from quire.ingestion.splitters import Splitters
from quire.ingestion.splitting import SPLITTING_VERSION
from quire.ingestion.stages import ahead
from quire.ingestion.state import IngestionRecord
from quire.ingestion.writing import Writer
from quire.models import IngestionMode

BATCH_TEXTS = 256
"""Texts embedded in one call and recorded in one transaction (a file is never split up)."""
BATCH_FILES = 64


@dataclass(frozen=True, slots=True)
class Survey:
    """A book's files and what is to be done about them."""

    scan: Scan
    lessons: LessonKeys
    plan: Plan


class Pipeline:
    """Three stages with small queues in between.

    Files are read and split one batch ahead of the embedder; batches are embedded across files,
    so that the embedder can sort them by length; finished batches are written while the next
    one is embedded. At most four batches are in memory.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        batch_texts: int = BATCH_TEXTS,
        batch_files: int = BATCH_FILES,
    ) -> None:
        self._embedder = embedder
        self._batch_texts = batch_texts
        self._batch_files = batch_files

    async def survey(
        self,
        book: Book,
        records: Mapping[str, IngestionRecord],
        *,
        mode: IngestionMode = "incremental",
        verify: bool = False,
    ) -> Survey:
        """Look at the files and plan; `verify` reads every file and takes none for unchanged."""
        found = await asyncio.to_thread(scan, book, records, trust_times=not verify)
        unreadable = {error.source_file for error in found.unreadable}
        lessons = LessonKeys.from_files(book, found.sources)
        suspect = {
            name
            for name, record in records.items()
            if identity_of(name, lessons) != record.identity
        }
        return Survey(
            found,
            lessons,
            plan(
                found.versions,
                {name: record for name, record in records.items() if name not in unreadable},
                settings_hash=self._settings_hash(book),
                embedder=self._embedder.name,
                mode=mode,
                suspect=frozenset(found.sources if verify else suspect),
            ),
        )

    async def ingest(
        self,
        book: Book,
        *,
        index: Index,
        ledger: Ledger,
        records: Mapping[str, IngestionRecord],
        meter: Meter,
        mode: IngestionMode = "incremental",
        verify: bool = False,
    ) -> None:
        """Do all that is to be done, and count it in the meter's report.

        With `verify` the index itself is compared with every file, and what no file owns is
        swept out. Cancelling is safe at any moment: a batch is written as a whole or not at all.
        """
        survey = await self.survey(book, records, mode=mode, verify=verify)
        self._announce(survey, records, meter)
        ownership = Ownership()
        for record in records.values():
            ownership.claim(record.source_file, record.chunk_ids)
        writer = Writer(book.id, index=index, ledger=ledger, ownership=ownership, meter=meter)
        async with Splitters() as splitters:
            drafting = Drafting(
                book,
                index=index,
                embedder=self._embedder,
                settings_hash=self._settings_hash(book),
                lessons=survey.lessons,
                ownership=ownership,
                look_up=verify,
                embed_all=mode == "full",
                splitters=splitters,
                meter=meter,
            )
            batches = drafting.batches(
                _tasks(survey, records), texts=self._batch_texts, files=self._batch_files
            )
            async with aclosing(ahead(self._embedded(batches), 1)) as stream:
                async for batch in stream:
                    await uninterrupted(writer.write(batch))
        if survey.plan.deleted:
            await uninterrupted(writer.remove([records[name] for name in survey.plan.deleted]))
        if verify:
            await uninterrupted(writer.sweep())

    def _settings_hash(self, book: Book) -> str:
        """Changes with everything but the file and the embedder that shapes a page's chunks."""
        window = min(TARGET_TOKENS, self._embedder.max_tokens)
        recipe = f"{SPLITTING_VERSION}:{window}:{book.settings_hash}"
        return hashlib.sha256(recipe.encode()).hexdigest()

    def _announce(
        self, survey: Survey, records: Mapping[str, IngestionRecord], meter: Meter
    ) -> None:
        report, found = meter.report, survey.scan
        report.files_discovered = len(found.sources)
        report.files_skipped = len(survey.plan.unchanged)
        report.files_failed = len(found.unreadable)
        report.refused = list(found.refused)
        for error in found.unreadable:
            known = records.get(error.source_file)
            report.errors.append(FileError.of(error, kept_chunks=known.chunk_count if known else 0))
        meter.expect(
            files=len(found.sources), size=sum(file.size for file in found.sources.values())
        )
        idle = {version.source_file for version in survey.plan.unchanged}
        idle |= {error.source_file for error in found.unreadable}
        meter.done(
            files=len(idle),
            size=sum(found.sources[name].size for name in idle),
            chunks=sum(records[name].chunk_count for name in idle if name in records),
        )

    async def _embedded(self, batches: AsyncGenerator[Batch]) -> AsyncGenerator[Batch]:
        async with aclosing(ahead(batches, 1)) as stream:
            async for batch in stream:
                if texts := batch.texts:
                    vectors, sparse = await asyncio.gather(
                        self._embed(texts),
                        asyncio.to_thread(_sparse, texts),
                    )
                    found = iter(zip(vectors, sparse, strict=True))
                    for draft in batch.drafts:
                        for position in draft.revision.embed:
                            dense, bm25 = next(found)
                            draft.points.append(Point(draft.revision.chunks[position], dense, bm25))
                yield batch

    async def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        # One very long page may exceed a batch many times over.
        step = 4 * self._batch_texts
        parts = [
            await self._embedder.embed_documents(texts[start : start + step])
            for start in range(0, len(texts), step)
        ]
        return np.concatenate(parts)


def _sparse(texts: list[str]) -> list[SparseVector]:
    bm25 = Bm25()
    return [bm25.document(text) for text in texts]


def _tasks(survey: Survey, records: Mapping[str, IngestionRecord]) -> list[Task]:
    sources, todo = survey.scan.sources, survey.plan
    tasks = [Task(sources[file.source_file], None) for file in todo.new]
    tasks += [
        Task(sources[file.source_file], records.get(file.source_file)) for file in todo.modified
    ]
    tasks += [Task(sources[move.file.source_file], records[move.previous]) for move in todo.moved]
    return sorted(tasks, key=lambda task: task.file.source_file)
