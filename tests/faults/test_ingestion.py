"""Ingestion while things break: readers beside it, full disks, read errors, a dying database."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from quire.errors import EmbedderMismatch, QuireError
from quire.index.disk import LEAST_FREE
from quire.index.edge import EdgeIndex
from quire.ingestion.invariants import check_chunks
from quire.models import Chunk
from quire.settings import Settings, load_settings
from quire.testing.answering import WordEmbedder
from quire.testing.embedding import HashEmbedder
from quire.wiring import Ask, Library, opening
from quire.wiring.diagnosis import verify
from tests.faults.disk import ReadErrors, fill, small_disk
from tests.faults.scale import LONG, SEED, note, scale
from tests.service import QUESTION, write_book
from tests.workshop import all_chunks, open_workshop, page, timeless, write_pages

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800 if LONG else 120)]


async def test_one_page_again_and_again_under_readers_is_never_empty_or_partial(
    tmp_path: Path,
) -> None:
    """On the real engine; the versions differ in length, so a mixture would show."""
    index = await EdgeIndex.open(tmp_path / "index")
    times = scale(30, 1000)
    reads = 0
    async with open_workshop(tmp_path, index=index) as shop:
        path = shop.root / "guide" / "page.md"
        path.parent.mkdir()
        versions = [page(1, seed=seed, sections=2 + seed % 3) for seed in range(7)]
        path.write_text(versions[0])
        await shop.ingester.run(shop.book)
        stop = asyncio.Event()

        async def read() -> int:
            count = 0
            while not stop.is_set():
                chunks = list((await all_chunks(index, "book")).values())
                assert chunks
                groups = by_version(chunks)
                assert any(len(group) == group[0].total_chunks for group in groups), groups
                count += 1
            return count

        readers = [asyncio.create_task(read()) for _ in range(3)]
        for number in range(1, times + 1):
            path.write_text(versions[number % len(versions)])
            await shop.ingester.run(shop.book)
            await asyncio.sleep(0)
        stop.set()
        reads = sum(await asyncio.gather(*readers))
        assert check_chunks((await shop.chunks()).values()) == []
    note("one page", times=times, reads=reads)
    assert reads > times


def by_version(chunks: list[Chunk]) -> list[list[Chunk]]:
    groups: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        groups.setdefault(chunk.source_file_hash, []).append(chunk)
    return list(groups.values())


async def test_a_full_disk_reports_no_success_and_recovers_unaided(tmp_path: Path) -> None:
    write_pages(tmp_path / "pages", 60, sections=4)
    with small_disk(tmp_path / "disk", 160) as disk:
        (disk / "book").symlink_to(tmp_path / "pages")
        index = await EdgeIndex.open(disk / "index")
        async with open_workshop(disk, index=index, batch_texts=16, batch_files=4) as shop:
            # room for the first shard and some pages, not for all
            blocker = fill(disk, leave=LEAST_FREE + 2_000_000)
            with pytest.raises(QuireError, match="nearly full"):
                await shop.ingester.run(shop.book)
            state = await shop.state.load("book")
            recorded = set[str]()
            if state is not None:
                assert not state.settled
                recorded = {key for r in state.records.values() for key in r.chunk_ids}
            assert recorded <= set(await all_chunks(index, "book"))
            blocker.unlink()
            report = await shop.ingester.run(shop.book)
            assert not report.errors
            found = {k: timeless(c) for k, c in (await all_chunks(index, "book")).items()}
    async with open_workshop(tmp_path / "clean") as clean:
        (tmp_path / "clean" / "book").rmdir()
        (tmp_path / "clean" / "book").symlink_to(tmp_path / "pages")
        await clean.ingester.run(clean.book)
        assert found == await clean.snapshot()


async def test_read_errors_fail_their_page_alone_and_the_next_run_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_workshop(tmp_path) as shop:
        write_pages(shop.root, scale(30, 300))
        with monkeypatch.context() as patch:
            errors = ReadErrors(patch, seed=SEED, rate=0.3)
            report = await shop.ingester.run(shop.book)
        assert errors.failed > 0
        assert report.files_failed > 0
        state = await shop.state.load("book")
        assert state is not None
        assert len(state.records) == report.files_discovered - report.files_failed
        again = await shop.ingester.run(shop.book)
        assert (again.files_failed, again.files_processed) == (0, report.files_failed)
        assert check_chunks((await shop.chunks()).values()) == []


def postgres_settings(home: Path, url: str) -> Settings:
    return load_settings(home=home, database_url=url, key_pepper="p" * 40)


async def test_postgresql_stopped_in_immediate_mode_is_survived_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.faults.postgres import own_server

    monkeypatch.setattr(opening, "open_embedder", lambda _: WordEmbedder())
    rng = random.Random(SEED)
    write_pages(tmp_path / "big", 60)
    book = write_book(tmp_path)
    stops, outages = scale(1, 20), 0
    async with own_server(tmp_path / "postgres") as server:
        async with Library.open(postgres_settings(tmp_path / "home", server.url)) as library:
            assert (await library.ingest(book)).status == "completed"
            for _ in range(stops):
                write_pages(tmp_path / "big", 60, seed=rng.randrange(10**6))
                ingest = asyncio.create_task(library.ingest(tmp_path / "big"))
                await asyncio.sleep(rng.random() * 0.3)  # most of the work takes longer
                await server.stop("immediate")
                with pytest.raises(QuireError):
                    await library.ask(Ask(text=QUESTION, book_id="rover", remember=True))
                await server.start()
                try:
                    job = await asyncio.wait_for(ingest, 60)
                    outages += job.status != "completed"
                except QuireError:
                    outages += 1
                answer = await library.ask(Ask(text=QUESTION, book_id="rover", remember=True))
                assert "24 volts" in answer.text
                done = await finish(library, tmp_path / "big")
                assert done == "completed"
                assert await verify(library, "big") == []
        note("postgresql killed", stops=stops, outages=outages)


async def finish(library: Library, root: Path) -> str:
    """Ingest once nothing is at work on the book."""
    async with asyncio.timeout(90):
        while True:
            try:
                return (await library.ingest(root)).status
            except QuireError:
                await asyncio.sleep(0.5)


async def test_a_change_of_embedder_mixes_no_two_models(tmp_path: Path) -> None:
    """A query meets the old vectors with the old model, or the new ones with the new."""
    index = await EdgeIndex.open(tmp_path / "index")
    async with open_workshop(tmp_path, index=index) as shop:
        write_pages(shop.root, 10)
        await shop.ingester.run(shop.book)
        other = shop.with_embedder(HashEmbedder(name="other", dimension=48))
        stop, seen = asyncio.Event(), set[str]()

        async def search(embedder: HashEmbedder) -> int:
            answered = 0
            vector = await embedder.embed_query("robot sensor")
            while not stop.is_set():
                info = await index.embedder()
                assert info is not None
                if info.name != embedder.name:
                    await asyncio.sleep(0)
                    continue
                try:
                    found = await index.search("book", dense=vector, bm25=None, limit=5)
                except EmbedderMismatch:
                    continue  # it changed since the look
                assert found.dense
                seen.add(info.name)
                answered += 1
            return answered

        readers = [asyncio.create_task(search(e)) for e in (shop.embedder, other.embedder)]
        await other.ingester.run(other.book, mode="recreate")
        await asyncio.sleep(0.2)
        stop.set()
        counts = await asyncio.gather(*readers)
    note("embedder", answered=counts)
    assert all(counts)
    assert seen == {"hash", "other"}
