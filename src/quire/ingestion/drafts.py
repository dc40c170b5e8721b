"""From a source file to a draft: its new chunks, and what they change in the index."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.books import Book, SourceFile
from quire.embedding.port import Embedder
from quire.errors import PageRejected
from quire.index.port import Index, Point
from quire.ingestion.identity import LessonKeys
from quire.ingestion.ownership import Ownership
from quire.ingestion.plan import FileVersion
from quire.ingestion.progress import FileError, Meter
from quire.ingestion.revision import Revision, revise
from quire.ingestion.scan import read_version
from quire.ingestion.splitters import Splitters
from quire.ingestion.splitting import PageChunks
from quire.ingestion.state import IngestionRecord
from quire.models import Chunk, utc_now

TARGET_TOKENS = 400
"""Chunk size aimed at, unless the embedder's window is smaller."""


def identity_of(source_file: str, lessons: LessonKeys) -> str:
    """How the file's chunk ids are formed: by its `lesson`, or by its `path`.

    Another file that claims the same lesson changes this without a change of the file.
    """
    return "lesson" if source_file in lessons.keys else "path"


@dataclass(frozen=True, slots=True)
class Task:
    """A file to ingest, and the record it replaces (its own, or that of its former path)."""

    file: SourceFile
    before: IngestionRecord | None


@dataclass(slots=True)
class Draft:
    """A file that can be written once `points` holds what has to be embedded or copied."""

    task: Task
    record: IngestionRecord
    revision: Revision
    texts: tuple[str, ...]
    """What to embed for the positions in `revision.embed`, in that order."""
    points: list[Point] = field(default_factory=list[Point])
    skipped: bool = False
    """The page is not to be indexed (a draft)."""

    @property
    def changes_nothing(self) -> bool:
        """Index and database hold this already."""
        before = self.task.before
        if before is None or not self.revision.is_empty:
            return False
        seen = {"ingested_at": before.ingested_at, "mtime_ns": before.mtime_ns}
        return replace(self.record, **seen) == before


@dataclass(slots=True)
class Batch:
    """Files that are embedded, written and recorded together."""

    drafts: list[Draft] = field(default_factory=list[Draft])
    failures: list[FileError] = field(default_factory=list[FileError])
    failed_bytes: int = 0

    @property
    def texts(self) -> list[str]:
        """All texts to embed, in the order of the drafts."""
        return [text for draft in self.drafts for text in draft.texts]

    def __len__(self) -> int:
        return len(self.drafts) + len(self.failures)


class Drafting:
    """Reads, splits and compares the files of one book."""

    def __init__(
        self,
        book: Book,
        *,
        index: Index,
        embedder: Embedder,
        settings_hash: str,
        lessons: LessonKeys,
        ownership: Ownership,
        look_up: bool,
        embed_all: bool,
        splitters: Splitters,
        meter: Meter,
    ) -> None:
        """`look_up`: the index may hold chunks of files that have no record."""
        self._book = book
        self._index = index
        self._embedder = embedder
        self._settings_hash = settings_hash
        self._lessons = lessons
        self._ownership = ownership
        self._look_up = look_up
        self._embed_all = embed_all
        self._splitters = splitters
        self._meter = meter

    async def batches(
        self, tasks: Iterable[Task], *, texts: int, files: int
    ) -> AsyncGenerator[Batch]:
        """The drafts of all tasks, grouped until there are so many texts or files."""
        batch, size = Batch(), 0
        for task in tasks:
            try:
                draft = await self._draft(task)
            except PageRejected as error:
                kept = task.before.chunk_count if task.before else 0
                batch.failures.append(FileError.of(error, kept_chunks=kept))
                batch.failed_bytes += task.file.size
            else:
                batch.drafts.append(draft)
                size += len(draft.texts)
            if size >= texts or len(batch) >= files:
                yield batch
                batch, size = Batch(), 0
        if len(batch):
            yield batch

    async def _draft(self, task: Task) -> Draft:
        version, data = await asyncio.to_thread(read_version, task.file)
        split = await self._splitters.split(
            self._book,
            version.source_file,
            data,
            max_tokens=min(TARGET_TOKENS, self._embedder.max_tokens),
            count_tokens=self._embedder.count_tokens,
            identity=self._lessons,
        )
        record = self._record(version, split)
        self._meter.read(size=task.file.size, chunks=record.chunk_count)
        self._ownership.claim(record.source_file, record.chunk_ids)
        chunks = split.chunks if split else ()
        old_ids = task.before.chunk_ids if task.before else ()
        stored = await self._stored(old_ids, record.chunk_ids)
        revision = await self._revise(chunks, old_ids, stored)
        vectors = await self._vectors(revision)
        if len(vectors) < len(set(revision.copy.values())):
            lost = set(revision.copy.values()) - vectors.keys()
            stored = {key: chunk for key, chunk in stored.items() if key not in lost}
            revision = await self._revise(chunks, old_ids, stored)
        return Draft(
            task=task,
            record=record,
            revision=revision,
            texts=tuple(split.embedded[i] for i in revision.embed) if split else (),
            points=[
                replace(vectors[source], chunk=revision.chunks[position])
                for position, source in revision.copy.items()
            ],
            skipped=split is None,
        )

    async def _revise(
        self, chunks: Sequence[Chunk], old_ids: Sequence[str], stored: Mapping[str, Chunk]
    ) -> Revision:
        return await asyncio.to_thread(
            revise,
            chunks,
            old_ids=old_ids,
            stored=stored,
            now=utc_now(),
            embed_all=self._embed_all,
        )

    async def _vectors(self, revision: Revision) -> dict[str, Point]:
        if not revision.copy:
            return {}
        ids = list(dict.fromkeys(revision.copy.values()))
        points = await self._index.fetch_points(self._book.id, ids)
        return {point.chunk.id: point for point in points}

    def _record(self, version: FileVersion, split: PageChunks | None) -> IngestionRecord:
        first = split.chunks[0] if split and split.chunks else None
        return IngestionRecord(
            book_id=self._book.id,
            source_file=version.source_file,
            file_hash=version.file_hash,
            size=version.size,
            mtime_ns=version.mtime_ns,
            chunk_ids=tuple(chunk.id for chunk in split.chunks) if split else (),
            module=first.module if first else "",
            chapter=first.chapter if first else 0,
            lesson=first.lesson if first else 0,
            identity=identity_of(version.source_file, self._lessons),
            settings_hash=self._settings_hash,
            embedder=self._embedder.name,
        )

    async def _stored(self, old_ids: tuple[str, ...], new_ids: tuple[str, ...]) -> dict[str, Chunk]:
        ids = list(dict.fromkeys((*old_ids, *new_ids)))
        if not ids or not (old_ids or self._look_up):
            return {}
        found = await self._index.fetch(self._book.id, ids)
        return {chunk.id: chunk for chunk in found if chunk.id not in self._ownership.released}
