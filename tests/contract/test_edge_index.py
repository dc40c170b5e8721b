"""What only the embedded index promises: crashes, locks, leftovers."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.errors import ConfigurationError, IndexUnavailable, StoreLocked
from quire.index import shard
from quire.index.edge import EdgeIndex
from quire.models import Filters
from tests.contract.index_suite import EMBEDDER, chunk_id, make_point, memory_disk, vector

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with memory_disk(tmp_path) as place:
        yield place


def generations(root: Path) -> list[str]:
    return sorted(path.name for path in root.glob("quire@*"))


def start_writer(root: Path, first: int = 0, *, apart: bool = False) -> subprocess.Popen[str]:
    place = "apart" if apart else "here"
    paths = [str(REPOSITORY / "src"), str(REPOSITORY)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.contract.index_writer", str(root), str(first), place],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_after(writer: subprocess.Popen[str], seconds: float) -> int:
    """Kill -9 so long after the first commit; returns how many points were committed."""
    assert writer.stdout is not None
    assert writer.stdout.readline() == "open\n"
    first = writer.stdout.readline()
    time.sleep(seconds)
    writer.kill()
    lines = [first, *writer.stdout.read().splitlines()]
    writer.stdout.close()
    writer.wait()
    return int(lines[-1])


@pytest.mark.slow
@pytest.mark.parametrize("apart", [False, True])
async def test_what_was_committed_survives_kill_9(root: Path, apart: bool) -> None:
    seeded = random.Random(7)
    committed = 0
    for _ in range(3):
        committed = kill_after(
            start_writer(root, committed, apart=apart), seeded.uniform(0.05, 0.6)
        )
        index = await EdgeIndex.open(root, apart=apart)
        ids = [chunk_id("robots", number) for number in range(committed)]
        found = await index.fetch("robots", ids)
        assert [chunk.id for chunk in found] == ids
        hits = await index.search("robots", dense=vector(committed - 1), bm25=None, limit=1)
        assert hits.dense[0].score == pytest.approx(1, abs=1e-5)
        assert await index.count("robots", Filters(chapter_min=0)) >= committed
        await index.close()


@pytest.mark.slow
async def test_a_second_process_is_told_what_to_set(root: Path) -> None:
    writer = start_writer(root)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "open\n"
    try:
        with pytest.raises(StoreLocked, match="QDRANT_URL and DATABASE_URL") as refused:
            await EdgeIndex.open(root)
        assert "\n" not in str(refused.value)
    finally:
        writer.kill()
        writer.stdout.close()
        writer.wait()
    await (await EdgeIndex.open(root)).close()


async def test_a_second_index_in_the_same_process_is_refused(root: Path) -> None:
    index = await EdgeIndex.open(root)
    with pytest.raises(StoreLocked):
        await EdgeIndex.open(root)
    await index.close()
    await (await EdgeIndex.open(root)).close()


async def test_opening_removes_rebuilds_and_shards_that_never_finished(root: Path) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1)])
    await index.close()
    half_made = root / "quire@1" / "other.1"
    leftover = root / "quire@2" / "robots.1"
    for folder in (half_made, leftover):
        folder.mkdir(parents=True)
        (folder / "edge_config.json").write_text("{")
    index = await EdgeIndex.open(root)
    assert await index.books() == ["robots"]
    assert generations(root) == ["quire@1"]
    assert not half_made.exists()
    await index.close()


async def test_a_finished_rebuild_leaves_one_generation_on_disk(root: Path) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1)])
    rebuilt = await index.begin_rebuild(EMBEDDER)
    await rebuilt.upsert([make_point(2)])
    await index.finish_rebuild(rebuilt)
    assert generations(root) == ["quire@2"]
    await index.close()
    index = await EdgeIndex.open(root)
    assert [chunk.id for chunk in (await index.scroll("robots"))[0]] == [chunk_id("robots", 2)]
    await index.close()


async def test_a_deleted_book_gives_its_disk_back(root: Path) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1)])
    await asyncio.gather(index.count("robots"), index.delete_book("robots"), index.count("robots"))
    await index.upsert([make_point(2)])
    await index.close()
    assert len(list((root / "quire@1").iterdir())) == 1


async def test_an_index_of_another_schema_asks_for_a_rebuild(root: Path) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.close()
    alias = root / "quire.json"
    alias.write_text(json.dumps(json.loads(alias.read_text()) | {"schema": 0}))
    index = await EdgeIndex.open(root)
    with pytest.raises(ConfigurationError, match="recreate"):
        await index.prepare(EMBEDDER)
    await index.finish_rebuild(await index.begin_rebuild(EMBEDDER))
    await index.prepare(EMBEDDER)
    await index.close()


async def test_a_damaged_alias_or_shard_is_one_clear_error(root: Path) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1)])
    await index.close()
    (root / "quire@1" / "robots.1" / "edge_config.json").write_text("{")
    index = await EdgeIndex.open(root)
    with pytest.raises(IndexUnavailable):
        await index.count("robots")
    await index.close()
    (root / "quire.json").write_text("{")
    with pytest.raises(IndexUnavailable, match="damaged"):
        await EdgeIndex.open(root)


async def test_a_closed_index_says_so(root: Path) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.close()
    with pytest.raises(IndexUnavailable, match="closed"):
        await index.prepare(EMBEDDER)
    with pytest.raises(IndexUnavailable, match="closed"):
        await index.count("robots")
    with pytest.raises(IndexUnavailable, match="closed"):
        await index.ping()


async def test_no_commit_is_reported_when_the_disk_fails(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1)])

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    for _ in range(2):
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", full)
            with pytest.raises(IndexUnavailable, match="No space left"):
                await index.commit()
    await index.commit()
    await index.close()


async def test_a_reader_of_the_old_generation_may_still_open_a_book(root: Path) -> None:
    """The rebuild retires it while the read waits for its thread."""
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1), make_point(1, book="other")])
    await index.close()
    index = await EdgeIndex.open(root)
    rebuilt = await index.begin_rebuild(EMBEDDER)
    reads = [asyncio.create_task(index.count(book)) for book in ("robots", "other")]
    await asyncio.sleep(0)
    await index.finish_rebuild(rebuilt)
    assert await asyncio.gather(*reads) == [1, 1]
    await index.close()
    assert generations(root) == ["quire@2"]


async def test_a_cancelled_read_leaves_the_index_usable(root: Path) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(number) for number in range(50)])
    reads = [
        asyncio.create_task(index.search("robots", dense=vector(1), bm25=None, limit=50))
        for _ in range(20)
    ]
    await asyncio.sleep(0)
    for read in reads:
        read.cancel()
    await asyncio.gather(*reads, return_exceptions=True)
    await index.finish_rebuild(await index.begin_rebuild(EMBEDDER))
    assert await index.count("robots") == 0
    await index.close()  # waits for the threads of the cancelled reads
    assert generations(root) == ["quire@2"]


def shards(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "quire@1").iterdir())


async def change_all(index: EdgeIndex, turn: int) -> None:
    """Twenty chunks of which every one is replaced, as an ingestion does it."""
    await index.upsert([make_point(number, f"Turn {turn} of {number}.") for number in range(20)])
    await index.commit()


async def test_a_book_that_changes_all_the_time_stays_small(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard, "LEAST_DEAD", 50)
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await change_all(index, 0)
    stop = asyncio.Event()
    looks: list[int] = []

    async def look() -> None:
        while not stop.is_set():
            found = await index.search("robots", dense=vector(3), bm25=None, limit=50)
            looks.append(len({hit.chunk.id for hit in found.dense}))

    readers = [asyncio.create_task(look()) for _ in range(3)]
    for turn in range(1, 16):
        await change_all(index, turn)
    stop.set()
    await asyncio.gather(*readers)
    assert looks
    assert set(looks) == {20}, "neither a hole nor the old beside the new"
    assert shards(root) == ["robots.6"], "made anew five times, every third turn"
    for _ in range(2):
        texts = [chunk.text for chunk in (await index.scroll("robots"))[0]]
        assert sorted(texts) == sorted(f"Turn 15 of {number}." for number in range(20))
        await index.close()
        index = await EdgeIndex.open(root)
    await index.close()


async def test_readers_do_not_wait_for_a_flush_before_it_is_overdue(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard, "FLUSH_AFTER", 20)
    monkeypatch.setattr(shard, "FLUSH_AT_LAST", 60)
    flushed: list[int] = []
    flush = shard.Shard.flush

    def counted(self: shard.Shard) -> None:
        flushed.append(turn)
        flush(self)

    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    turn = 0
    await change_all(index, turn)  # makes the shard
    monkeypatch.setattr(shard.Shard, "flush", counted)
    for turn in range(1, 7):
        if turn <= 4:
            await index.search("robots", dense=vector(3), bm25=None, limit=5)
        elif turn == 5:
            monkeypatch.setattr(shard, "QUIET_S", 0.0)
        await change_all(index, turn)
    assert flushed == [3, 5, 6], "at 60 points under readers, at 20 without"
    await index.close()


async def test_what_is_gone_counts_over_restarts(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard, "LEAST_DEAD", 50)
    for turn in range(4):
        index = await EdgeIndex.open(root)
        await index.prepare(EMBEDDER)
        await change_all(index, turn)
        await index.close()
    assert shards(root) == ["robots.2"]


async def test_of_two_finished_shards_of_a_book_the_newer_counts(root: Path) -> None:
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await change_all(index, 1)
    await index.close()
    older = root / "quire@1" / "robots.1"
    shutil.copytree(older, root / "quire@1" / "robots.10")
    index = await EdgeIndex.open(root)
    await index.delete("robots", [chunk_id("robots", 0)])
    await index.close()
    assert shards(root) == ["robots.10"], "a crash after the newer one was finished"
    shutil.copytree(root / "quire@1" / "robots.10", older)
    index = await EdgeIndex.open(root)
    assert await index.count("robots") == 19
    assert shards(root) == ["robots.10"]
    await index.close()


async def test_a_book_that_cannot_be_written_anew_stays_as_it_is(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> str | None:
        raise IndexUnavailable("the disk of the index is nearly full")

    monkeypatch.setattr(shard, "LEAST_DEAD", 10)
    index = await EdgeIndex.open(root)
    await index.prepare(EMBEDDER)
    await change_all(index, 1)
    monkeypatch.setattr(shard.Shard, "copy_slice", fail)
    await change_all(index, 2)
    assert "could not be written anew" in caplog.text
    assert await index.count("robots") == 20
    assert shards(root) == ["robots.1"]
    await index.close()
