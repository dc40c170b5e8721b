"""Writing batches so that a crash between any two steps leaves the old answers available."""

from __future__ import annotations

from collections.abc import Sequence

from quire.index.port import Index, Point
from quire.ingestion.drafts import Batch
from quire.ingestion.ledger import Ledger
from quire.ingestion.ownership import Ownership
from quire.ingestion.progress import Meter
from quire.ingestion.state import IngestionRecord
from quire.models import Chunk

_PAGE = 1000  # chunks per read while sweeping


class Writer:
    """Brings the index and the ledger from one consistent state to the next.

    The order is: new points, new payloads, deletions, `commit`, record. New points come
    before what points at them, deletions after; nothing is recorded that is not durable.
    """

    def __init__(
        self, book_id: str, *, index: Index, ledger: Ledger, ownership: Ownership, meter: Meter
    ) -> None:
        self._book_id = book_id
        self._index = index
        self._ledger = ledger
        self._ownership = ownership
        self._meter = meter

    async def write(self, batch: Batch) -> None:
        """Write a batch whose drafts have all their points."""
        changed = [draft for draft in batch.drafts if not draft.changes_nothing]
        forget = [
            draft.task.before.source_file
            for draft in changed
            if draft.task.before and draft.task.before.source_file != draft.record.source_file
        ]
        await self._change(
            points=[point for draft in changed for point in draft.points],
            updates=[draft.revision.chunks[i] for draft in changed for i in draft.revision.update],
            gone=[
                chunk_id
                for draft in changed
                if draft.task.before
                for chunk_id in self._ownership.release(
                    draft.task.before.source_file, draft.revision.gone
                )
            ],
            records=[draft.record for draft in changed],
            forget=forget,
        )
        self._count(batch)

    async def remove(self, records: Sequence[IngestionRecord]) -> None:
        """Take files that are gone out of the index and the ledger."""
        gone = [
            chunk_id
            for record in records
            for chunk_id in self._ownership.release(record.source_file, record.chunk_ids)
        ]
        await self._change(gone=gone, forget=[record.source_file for record in records])
        self._meter.report.files_deleted += len(records)

    async def sweep(self) -> None:
        """Delete what the index holds of this book and no file owns."""
        strays: list[str] = []
        after: str | None = None
        while True:
            chunks, after = await self._index.scroll(self._book_id, after=after, limit=_PAGE)
            strays += [chunk.id for chunk in chunks if chunk.id not in self._ownership]
            if after is None:
                break
        await self._change(gone=strays)

    async def _change(
        self,
        *,
        points: Sequence[Point] = (),
        updates: Sequence[Chunk] = (),
        gone: Sequence[str] = (),
        records: Sequence[IngestionRecord] = (),
        forget: Sequence[str] = (),
    ) -> None:
        if not (points or updates or gone or records or forget):
            return
        await self._ledger.begin()
        if points:
            await self._index.upsert(points)
        if updates:
            await self._index.update_chunks(updates)
        if gone:
            await self._index.delete(self._book_id, gone)
        if points or updates or gone:
            await self._index.commit()
        if records or forget:
            await self._ledger.record(records, forget=forget)
        self._meter.report.chunks_deleted += len(gone)

    def _count(self, batch: Batch) -> None:
        report = self._meter.report
        report.errors.extend(batch.failures)
        report.files_failed += len(batch.failures)
        for draft in batch.drafts:
            if draft.skipped or draft.changes_nothing:
                report.files_skipped += 1
            else:
                report.files_processed += 1
            revision = draft.revision
            written = len(draft.points) + len(revision.update)
            report.chunks_created += revision.added
            report.chunks_updated += written - revision.added
            report.embedded += len(revision.embed)
            report.tokens += sum(revision.chunks[i].token_count for i in revision.embed)
        self._meter.done(
            files=len(batch),
            size=batch.failed_bytes + sum(draft.task.file.size for draft in batch.drafts),
            chunks=sum(draft.record.chunk_count for draft in batch.drafts),
        )
