from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from quire.books import SourceFile, load_book, read_bytes
from quire.errors import ConfigurationError, EmbedderMismatch, IndexUnavailable, PageRejected
from quire.index.port import Point
from quire.ingestion.jobs import Jobs
from quire.ingestion.progress import Progress, Report
from quire.ingestion.state import LeaseLost
from quire.models import Chunk, Filters
from quire.testing.embedding import HashEmbedder
from quire.testing.index import MemoryIndex
from tests.workshop import Workshop, open_workshop, page, timeless, write_pages


class WatchedIndex(MemoryIndex):
    """Notes every write, and fails on request."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []
        self.fail_on: str | None = None

    def _note(self, operation: str) -> None:
        if self.fail_on == operation:
            raise IndexUnavailable(f"no {operation} today")
        self.writes.append(operation)

    async def upsert(self, points: Sequence[Point]) -> None:
        self._note("upsert")
        await super().upsert(points)

    async def update_chunks(self, chunks: Sequence[Chunk]) -> None:
        self._note("update")
        await super().update_chunks(chunks)

    async def delete(self, book_id: str, ids: Sequence[str]) -> None:
        self._note("delete")
        await super().delete(book_id, ids)

    async def commit(self) -> None:
        self._note("commit")
        await super().commit()


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Workshop]:
    async with open_workshop(tmp_path, index=WatchedIndex()) as workshop:
        write_pages(workshop.root, 5)
        yield workshop


def watched(shop: Workshop) -> WatchedIndex:
    assert isinstance(shop.index, WatchedIndex)
    return shop.index


def guide(shop: Workshop, number: int) -> Path:
    return shop.root / "guide" / f"page-{number:02}.md"


def balanced(report: Report) -> bool:
    done = report.files_processed + report.files_skipped + report.files_failed
    return done == report.files_discovered


async def agrees(shop: Workshop) -> bool:
    """Records and index name the same chunks, and a verifying run finds nothing to mend."""
    state = await shop.state.load("book")
    assert state is not None
    recorded = {key for record in state.records.values() for key in record.chunk_ids}
    again = await shop.ingester.repair(shop.book)
    mended = again.files_processed, again.chunks_deleted, again.chunks_updated, again.embedded
    return recorded == set(await shop.chunks()) and mended == (0, 0, 0, 0) and state.settled


async def test_a_first_run_ingests_every_page(shop: Workshop):
    report = await shop.ingester.run(shop.book)
    assert (report.files_discovered, report.files_processed) == (5, 5)
    assert report.chunks_created == report.embedded == len(await shop.chunks()) > 10
    assert report.tokens > 100
    assert await agrees(shop)


async def test_an_unchanged_tree_costs_no_embedding_and_no_write(shop: Workshop):
    await shop.ingester.run(shop.book)
    before = list(watched(shop).writes), len(shop.embedder.documents), shop_files(shop)
    report = await shop.ingester.run(shop.book)
    assert (list(watched(shop).writes), len(shop.embedder.documents), shop_files(shop)) == before
    assert report.files_skipped == 5
    assert balanced(report)


def shop_files(shop: Workshop) -> dict[str, bytes]:
    """The bytes of the database and its log."""
    folder = shop.root.parent
    return {name: (folder / name).read_bytes() for name in ("quire.db", "quire.db-wal")}


async def test_editing_one_paragraph_embeds_only_the_touched_chunks(shop: Workshop):
    await shop.ingester.run(shop.book)
    before = await shop.chunks()
    shop.embedder.documents.clear()
    text = guide(shop, 2).read_text()
    head, _, tail = text.rpartition("\n\n")
    guide(shop, 2).write_text(f"{head}\n\n{tail.strip()} One more remark.\n")
    report = await shop.ingester.run(shop.book)
    assert len(shop.embedder.documents) == report.embedded == 1
    assert (report.chunks_created, report.chunks_deleted) == (1, 1)
    after = await shop.chunks()
    [new] = set(after) - set(before)
    [old] = set(before) - set(after)
    assert report.tokens == after[new].token_count
    assert after[new].version == before[old].version + 1
    assert after[new].created_at == before[old].created_at
    untouched = [key for key, chunk in before.items() if chunk.source_file != "guide/page-02.md"]
    assert all(after[key] == before[key] for key in untouched)
    assert await agrees(shop)


async def test_moving_a_page_embeds_nothing(shop: Workshop):
    await shop.ingester.run(shop.book)
    before = await shop.chunks()
    shop.embedder.documents.clear()
    guide(shop, 1).rename(shop.root / "guide" / "elsewhere.md")
    report = await shop.ingester.run(shop.book)
    assert shop.embedder.documents == []
    assert (report.embedded, report.tokens) == (0, 0)
    after = await shop.chunks()
    assert len(after) == len(before)
    moved = [chunk for chunk in after.values() if chunk.source_file == "guide/elsewhere.md"]
    assert moved
    assert all(chunk.version == 1 for chunk in moved)
    assert {chunk.created_at for chunk in moved} <= {c.created_at for c in before.values()}
    assert await agrees(shop)


async def test_a_lesson_that_moves_keeps_its_ids_and_loses_no_chunk(tmp_path: Path):
    async with open_workshop(tmp_path) as shop:
        chapter = shop.root / "module-1-ros2" / "chapter-1-basics"
        chapter.mkdir(parents=True)
        (chapter / "01-nodes.md").write_text(page(1))
        (chapter / "02-topics.md").write_text(page(2))
        await shop.ingester.run(shop.book)
        before = await shop.chunks()
        shop.embedder.documents.clear()
        (chapter / "01-nodes.md").rename(chapter / "01-all-about-nodes.md")
        await shop.ingester.run(shop.book)
        after = await shop.chunks()
        assert set(after) == set(before)
        assert shop.embedder.documents == []
        assert {c.source_file.rpartition("/")[2] for c in after.values()} == {
            "01-all-about-nodes.md",
            "02-topics.md",
        }
        assert await agrees(shop)


async def test_a_second_file_for_one_lesson_renames_the_first_without_embedding(tmp_path: Path):
    async with open_workshop(tmp_path) as shop:
        chapter = shop.root / "module-1-ros2" / "chapter-1-basics"
        chapter.mkdir(parents=True)
        (chapter / "01-nodes.md").write_text(page(1))
        await shop.ingester.run(shop.book)
        shop.embedder.documents.clear()
        (chapter / "01-rival.md").write_text(page(2))
        report = await shop.ingester.run(shop.book)
        assert report.files_processed == 2
        assert not any("Page 1" in text for text in shop.embedder.documents)
        clean = await clean_snapshot(shop, tmp_path / "clean")
        assert await shop.snapshot() == clean
        (chapter / "01-rival.md").unlink()
        await shop.ingester.run(shop.book)
        assert await agrees(shop)


async def clean_snapshot(shop: Workshop, folder: Path) -> dict[str, Chunk]:
    """What a first ingest of the same files into empty stores gives."""
    async with open_workshop(folder) as other:
        await other.ingester.run(shop.book)
        return await other.snapshot()


async def test_deleting_a_page_takes_its_chunks(shop: Workshop):
    await shop.ingester.run(shop.book)
    guide(shop, 0).unlink()
    report = await shop.ingester.run(shop.book)
    assert report.files_deleted == 1
    assert report.chunks_deleted > 0
    assert not any(c.source_file == "guide/page-00.md" for c in (await shop.chunks()).values())
    assert await agrees(shop)


async def test_swapping_two_pages_gives_what_a_clean_ingest_gives(shop: Workshop, tmp_path: Path):
    await shop.ingester.run(shop.book)
    one, two = guide(shop, 1).read_text(), guide(shop, 2).read_text()
    guide(shop, 1).write_text(two)
    guide(shop, 2).write_text(one)
    await shop.ingester.run(shop.book)
    fresh = await clean_snapshot(shop, tmp_path / "clean")
    versionless = {key: replace(c, version=1) for key, c in (await shop.snapshot()).items()}
    assert versionless == fresh


async def test_full_embeds_all_again_and_deletes_nothing(shop: Workshop):
    await shop.ingester.run(shop.book)
    before = await shop.chunks()
    watched(shop).writes.clear()
    report = await shop.ingester.run(shop.book, mode="full")
    assert report.embedded == len(before)
    assert (report.chunks_created, report.chunks_deleted) == (0, 0)
    assert "delete" not in watched(shop).writes
    assert await shop.chunks() == before


async def test_a_failing_file_is_reported_and_keeps_its_last_good_version(shop: Workshop):
    await shop.ingester.run(shop.book)
    before = [c for c in (await shop.chunks()).values() if c.source_file == "guide/page-03.md"]
    guide(shop, 3).write_bytes(b"# Fine\n\nand then \xff\xfe\n")
    (shop.root / "guide" / "page-09.md").write_bytes(b"\xff")
    guide(shop, 4).write_text(page(4, seed=1))
    report = await shop.ingester.run(shop.book)
    assert (report.files_failed, report.files_processed, report.files_skipped) == (2, 1, 3)
    assert balanced(report)
    kept = next(error for error in report.errors if error.source_file == "guide/page-03.md")
    assert kept.line == 3
    assert kept.kept_chunks == len(before)
    assert "stays" in kept.message
    after = await shop.chunks()
    assert all(after[chunk.id] == chunk for chunk in before)
    guide(shop, 3).write_text(page(3))
    (shop.root / "guide" / "page-09.md").unlink()
    assert (await shop.ingester.run(shop.book)).files_failed == 0
    assert await agrees(shop)


async def test_a_file_that_cannot_be_opened_fails_alone_and_is_not_taken_for_deleted(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
):
    await shop.ingester.run(shop.book)
    before = await shop.chunks()
    os.utime(guide(shop, 1), ns=(7, 7))

    def read(file: SourceFile, **limits: int) -> bytes:
        if file.source_file == "guide/page-01.md":
            raise PageRejected("can't be opened: Input/output error", source_file=file.source_file)
        return read_bytes(file, **limits)

    monkeypatch.setattr("quire.ingestion.scan.read_bytes", read)
    report = await shop.ingester.run(shop.book)
    assert (report.files_failed, report.files_skipped, report.files_deleted) == (1, 4, 0)
    assert "stays" in report.errors[0].message
    assert await shop.chunks() == before


async def test_a_draft_is_skipped_and_turning_a_page_into_one_takes_it_out(shop: Workshop):
    await shop.ingester.run(shop.book)
    guide(shop, 0).write_text("---\ndraft: true\n---\n\n" + page(0))
    report = await shop.ingester.run(shop.book)
    assert (report.files_processed, report.files_skipped) == (0, 5)
    assert report.chunks_deleted > 0
    assert balanced(report)
    assert (await shop.ingester.run(shop.book)).chunks_deleted == 0


async def test_an_empty_folder_is_a_book_without_pages(tmp_path: Path):
    async with open_workshop(tmp_path) as shop:
        report = await shop.ingester.run(shop.book)
        assert report.files_discovered == 0
        assert balanced(report)


async def test_emptying_a_book_takes_all_of_it(shop: Workshop):
    await shop.ingester.run(shop.book)
    for path in (shop.root / "guide").iterdir():
        path.unlink()
    await shop.ingester.run(shop.book)
    assert await shop.chunks() == {}


@pytest.mark.parametrize("operation", ["upsert", "update", "delete", "commit"])
async def test_a_store_that_fails_at_any_step_leaves_work_that_a_rerun_finishes(
    shop: Workshop, tmp_path: Path, operation: str
):
    await shop.ingester.run(shop.book)
    guide(shop, 2).write_text(page(2) + "\n\nA new end of the page, long enough to count.\n")
    guide(shop, 3).write_text(page(3, seed=5))
    watched(shop).fail_on = operation
    with pytest.raises(IndexUnavailable):
        await shop.ingester.run(shop.book)
    state = await shop.state.load("book")
    assert state is not None
    assert not state.settled
    for name in ("guide/page-02.md", "guide/page-03.md"):
        assert await shop.index.count("book", Filters(source_file=(name,))) > 0
    watched(shop).fail_on = None
    await shop.ingester.run(shop.book)
    fresh = await clean_snapshot(shop, tmp_path / "clean")
    assert {k: replace(c, version=1) for k, c in (await shop.snapshot()).items()} == fresh
    assert await agrees(shop)


async def test_an_edit_after_a_crash_leaves_no_orphans_of_the_lost_version(shop: Workshop):
    await shop.ingester.run(shop.book)
    guide(shop, 3).write_text(page(3, seed=5))
    watched(shop).fail_on = "delete"
    with pytest.raises(IndexUnavailable):
        await shop.ingester.run(shop.book)
    watched(shop).fail_on = None
    guide(shop, 3).write_text(page(3, seed=6))
    await shop.ingester.run(shop.book)
    assert await agrees(shop)


async def test_going_back_after_a_crash_restores_the_recorded_version(shop: Workshop):
    await shop.ingester.run(shop.book)
    before = await shop.snapshot()
    original = guide(shop, 3).read_text()
    guide(shop, 3).write_text(original + "\n\nAn afterthought that will be taken back.\n")
    watched(shop).fail_on = "delete"
    with pytest.raises(IndexUnavailable):
        await shop.ingester.run(shop.book)
    watched(shop).fail_on = None
    guide(shop, 3).write_text(original)
    await shop.ingester.run(shop.book)
    assert await shop.snapshot() == before
    assert await agrees(shop)


async def test_a_lost_index_is_noticed_and_filled_again(shop: Workshop):
    await shop.ingester.run(shop.book)
    before = await shop.snapshot()
    await shop.index.delete_book("book")
    report = await shop.ingester.run(shop.book)
    assert report.embedded == len(before)
    assert await shop.snapshot() == before


async def test_repair_mends_every_kind_of_difference(shop: Workshop):
    await shop.ingester.run(shop.book)
    before = await shop.chunks()
    keys = sorted(before)
    [point] = await shop.index.fetch_points("book", keys[:1])
    stray = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
    await shop.index.upsert([replace(point, chunk=replace(point.chunk, id=stray))])
    await shop.index.delete("book", keys[1:2])
    await shop.index.update_chunks([replace(before[keys[2]], page_title="Wrong")])
    await shop.state.record("book", [], forget=["guide/page-04.md"])
    report = await shop.ingester.repair(shop.book)
    assert report.chunks_deleted == 1
    assert report.embedded == 1
    after = await shop.chunks()
    assert {k: timeless(c) for k, c in after.items()} == {k: timeless(c) for k, c in before.items()}
    assert await agrees(shop)


async def test_cancelling_leaves_whole_files_and_a_rerun_finishes(tmp_path: Path):
    async with open_workshop(tmp_path, batch_texts=4) as shop:
        write_pages(shop.root, 12)
        shop.embedder.delay = 0.01
        under_way = asyncio.Event()

        def note(progress: Progress) -> None:
            if progress.files_done > 0:
                under_way.set()

        run = asyncio.create_task(shop.ingester.run(shop.book, progress=note))
        await under_way.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        state = await shop.state.load("book")
        assert state is not None
        assert 0 < len(state.records) < 12
        recorded = {key for record in state.records.values() for key in record.chunk_ids}
        assert recorded == set(await shop.chunks())
        report = await shop.ingester.run(shop.book)
        assert report.files_processed == 12 - len(state.records)
        assert await agrees(shop)


async def test_progress_ends_with_everything_done(shop: Workshop):
    seen: list[Progress] = []
    report = await shop.ingester.run(shop.book, progress=seen.append)
    last = seen[-1]
    assert (last.files_done, last.files_total) == (5, 5)
    assert last.chunks_done == last.chunks_total == last.embedded == report.embedded
    assert last.eta_seconds == 0.0


async def test_texts_of_many_files_are_embedded_in_one_call(shop: Workshop):
    await shop.ingester.run(shop.book)
    assert shop.embedder.calls == 1


async def test_readers_never_find_a_page_empty_or_partial_while_it_is_ingested_200_times(
    tmp_path: Path,
):
    async with open_workshop(tmp_path) as shop:
        target = shop.root / "page.md"
        versions = [page(1, seed=seed, sections=2) for seed in (1, 2)]
        target.write_text(versions[0])
        await shop.ingester.run(shop.book)
        whole: list[set[str]] = [set(await shop.chunks())]
        target.write_text(versions[1])
        await shop.ingester.run(shop.book)
        whole.append(set(await shop.chunks()))
        done, reads = False, 0

        async def read() -> None:
            nonlocal reads
            while not done:
                found = set(await shop.chunks())
                assert any(version <= found for version in whole)
                reads += 1
                await asyncio.sleep(0.001)

        reader = asyncio.create_task(read())
        for number in range(200):
            target.write_text(versions[number % 2])
            os.utime(target, ns=(number, number))
            await shop.ingester.run(shop.book)
        done = True
        await reader
        assert reads > 100


async def test_another_embedder_is_refused_until_the_index_is_recreated(shop: Workshop):
    await shop.ingester.run(shop.book)
    other = shop.with_embedder(HashEmbedder(name="other", dimension=32))
    with pytest.raises(EmbedderMismatch):
        await other.ingester.run(shop.book)
    report = await other.ingester.run(shop.book, mode="recreate")
    assert report.embedded == len(await shop.chunks())
    info = await shop.index.embedder()
    assert info is not None
    assert info.name == "other"
    assert (await other.ingester.run(shop.book)).files_skipped == 5


async def test_recreate_copies_the_other_books_and_keeps_failed_pages(shop: Workshop):
    second = shop.root.parent / "second"
    write_pages(second, 2, seed=9)
    await shop.ingester.run(shop.book)
    await shop.ingester.run(load_book(second, book_id="second"))
    others = await shop.chunks("second")
    kept = {k for k, c in (await shop.chunks()).items() if c.source_file == "guide/page-03.md"}
    guide(shop, 3).write_bytes(b"\xff")
    shop.embedder.documents.clear()
    report = await shop.ingester.run(shop.book, mode="recreate")
    assert await shop.chunks("second") == others
    assert len(shop.embedder.documents) == report.embedded
    assert kept <= set(await shop.chunks())
    assert "stays" in report.errors[0].message
    guide(shop, 3).write_text(page(3))
    await shop.ingester.run(shop.book)
    assert await agrees(shop)


async def test_another_embedder_ingests_the_other_books_anew_or_names_those_it_cannot_read(
    shop: Workshop,
):
    second = shop.root.parent / "second"
    write_pages(second, 2, seed=9)
    await shop.ingester.run(shop.book)
    await shop.ingester.run(load_book(second, book_id="second"))
    before = await shop.snapshot("second")
    other = shop.with_embedder(HashEmbedder(name="other", dimension=32))
    hidden = second.rename(shop.root.parent / "hidden")
    with pytest.raises(ConfigurationError, match="second"):
        await other.ingester.run(shop.book, mode="recreate")
    assert await shop.snapshot("second") == before
    hidden.rename(second)
    await other.ingester.run(shop.book, mode="recreate")
    assert await shop.snapshot("second") == before
    again = await other.ingester.run(load_book(second, book_id="second"))
    assert (again.files_skipped, again.embedded) == (2, 0)


async def test_removing_a_book_leaves_nothing_of_it(shop: Workshop):
    await shop.ingester.run(shop.book)
    await shop.ingester.remove("book")
    assert await shop.chunks() == {}
    assert await shop.state.load("book") is None


async def test_a_changed_setting_rewrites_payloads_without_embedding(shop: Workshop):
    await shop.ingester.run(shop.book)
    shop.embedder.documents.clear()
    (shop.root / "quire.toml").write_text('base_url = "https://example.org/book"\n')
    report = await shop.ingester.run(shop.book)
    assert report.files_processed == 5
    assert shop.embedder.documents == []
    urls = {chunk.source_url for chunk in (await shop.chunks()).values()}
    assert all(url.startswith("https://example.org/book") for url in urls)


async def test_a_plan_changes_nothing(shop: Workshop):
    await shop.ingester.run(shop.book)
    guide(shop, 0).unlink()
    guide(shop, 1).write_text(page(1, seed=3))
    writes = list(watched(shop).writes)
    planned = await shop.ingester.plan(shop.book)
    assert planned.deleted == ("guide/page-00.md",)
    assert [file.source_file for file in planned.modified] == ["guide/page-01.md"]
    assert watched(shop).writes == writes


class PausingIndex(WatchedIndex):
    """Stops before a write until it is let go, as a process that the system put to sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.pause = False
        self.paused = asyncio.Event()
        self.go_on = asyncio.Event()

    async def upsert(self, points: Sequence[Point]) -> None:
        if self.pause:
            self.pause = False
            self.paused.set()
            await self.go_on.wait()
        await super().upsert(points)


async def test_what_a_paused_worker_wrote_late_is_not_recorded_and_the_next_run_sweeps_it_out(
    tmp_path: Path,
):
    index = PausingIndex()
    async with open_workshop(tmp_path, index=index) as shop:
        write_pages(shop.root, 3)
        await shop.ingester.run(shop.book)
        jobs = Jobs(shop.database, lease=timedelta(seconds=-1))
        job = await jobs.create("book", root=str(shop.root))
        guide(shop, 1).write_text(page(1, seed=7))
        first = await jobs.claim(job.job_id)
        assert first is not None
        index.pause = True
        stale = asyncio.create_task(shop.ingester.run(shop.book, guard=jobs.guard(first)))
        await index.paused.wait()
        guide(shop, 1).write_text(page(1, seed=8))
        second = await jobs.claim(job.job_id)
        assert second is not None
        await shop.ingester.run(shop.book, guard=jobs.guard(second))
        newest = await shop.snapshot()
        index.go_on.set()
        with pytest.raises(LeaseLost):
            await stale
        state = await shop.state.load("book")
        assert state is not None
        assert not state.settled
        await shop.ingester.run(shop.book)
        assert await shop.snapshot() == newest
        assert await agrees(shop)
