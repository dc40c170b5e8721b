"""The engine in a process of its own: one of the two may end at any moment."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from quire.errors import IndexUnavailable, InvalidRequest, StoreLocked
from quire.index import apart, edge, gate
from quire.index.conditions import Match
from quire.index.edge import EdgeIndex
from quire.models import Filters
from tests.contract.index_suite import EMBEDDER, chunk_id, make_point, memory_disk, vector
from tests.contract.test_edge_index import start_writer
from tests.engines import engines

POINTS = 40


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    with memory_disk(tmp_path) as place:
        yield place


@pytest.fixture
async def index(root: Path) -> AsyncIterator[EdgeIndex]:
    """A book in it, written but not committed."""
    index = await EdgeIndex.open(root, apart=True)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(number) for number in range(POINTS)])
    yield index
    await index.close()


def engine(root: Path) -> int:
    (found,) = engines(root)
    return found


def kill_engine(root: Path) -> int:
    """Return when it is dead; it was started by this process, which hasn't noticed yet."""
    found = engine(root)
    os.kill(found, signal.SIGKILL)
    os.waitid(os.P_PID, found, os.WEXITED | os.WNOWAIT)
    return found


def stop_engine(root: Path) -> None:
    """Return when it stands still: what it is in the middle of, a write to disk say, comes first.

    Only then does the system end it with the process that started it.
    """
    found = engine(root)
    os.kill(found, signal.SIGSTOP)
    while Path(f"/proc/{found}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)


async def whole(index: EdgeIndex) -> bool:
    """Whether all points are found, by every way of looking."""
    hits = await index.search("robots", dense=vector(3), bm25=None, limit=1)
    ids = [chunk_id("robots", number) for number in range(POINTS)]
    return (
        await index.count("robots", Filters(chapter_min=0)) == POINTS
        and [chunk.id for chunk in await index.fetch("robots", ids)] == ids
        and hits.dense[0].chunk.id == chunk_id("robots", 3)
    )


async def test_when_its_process_is_killed_one_call_may_fail_and_nothing_is_lost(
    root: Path, index: EdgeIndex, caplog: pytest.LogCaptureFixture
) -> None:
    killed = engine(root)
    os.kill(killed, signal.SIGKILL)
    with suppress(IndexUnavailable):  # or it is known to be gone by now
        await index.count("robots")
    assert await whole(index)
    assert engine(root) != killed
    kill_engine(root)
    assert await whole(index), "one that is known to be gone is started again at once"
    assert "SIGKILL" in caplog.text
    await index.upsert([make_point(POINTS)])
    await index.commit()
    assert await index.count("robots") == POINTS + 1


async def test_a_book_may_be_removed_after_its_process_was_killed(
    root: Path, index: EdgeIndex
) -> None:
    kill_engine(root)
    await index.delete_book("robots")
    assert await index.books() == []
    await index.upsert([make_point(1)])
    assert await index.count("robots") == 1


async def test_a_call_that_takes_too_long_is_given_up(
    root: Path, index: EdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    kill_engine(root)
    monkeypatch.setattr(apart, "CALL_SECONDS", 2.0)
    assert await whole(index)
    stop_engine(root)
    with pytest.raises(IndexUnavailable, match="said nothing for 2 s"):
        await index.count("robots")
    assert await whole(index)


async def test_signals_meant_for_the_group_do_not_end_it(root: Path, index: EdgeIndex) -> None:
    before = engine(root)
    for each in (signal.SIGINT, signal.SIGTERM):
        os.kill(before, each)
    assert await whole(index)
    assert engine(root) == before


async def test_closing_ends_the_process(root: Path) -> None:
    index = await EdgeIndex.open(root, apart=True)
    assert engines(root) == [], "nothing is started before there is a book"
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1)])
    assert engine(root)
    await index.close()
    assert engines(root) == []


async def test_the_engine_says_why_it_fails(root: Path, index: EdgeIndex) -> None:
    await index.close()
    for file in (root / "quire@1").rglob("edge_config.json"):
        file.write_text("{")
    index = await EdgeIndex.open(root, apart=True)
    try:
        with pytest.raises(IndexUnavailable, match="failed to open"):
            await index.count("robots")
    finally:
        await index.close()


@pytest.mark.slow
async def test_a_folder_is_opened_when_the_killed_process_has_left_nothing_at_work(
    root: Path,
) -> None:
    writer = start_writer(root, apart=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "open\n"
    committed = int(writer.stdout.readline())
    stop_engine(root)
    writer.kill()
    writer.stdout.close()
    writer.wait()
    index = await EdgeIndex.open(root)
    assert await index.count("robots") >= committed
    await index.close()


async def test_who_opens_the_folder_or_copies_it_waits_for_what_was_left_at_work(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge, "LAST_CALL_S", 0.1)
    monkeypatch.setattr(gate, "PATIENCE_S", 0.1)
    with (root / apart.ENGINE).open("w") as lock, (root / apart.WORKING).open("w") as working:
        lock.write("4711")
        lock.flush()
        for file in (lock, working):
            fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(StoreLocked, match="left its index's process 4711 at work"):
            await EdgeIndex.open(root)
        with pytest.raises(IndexUnavailable, match="without a pause"):
            async with gate.WriteGate(root).standstill():
                pass
    async with gate.WriteGate(root).standstill():
        pass
    await (await EdgeIndex.open(root)).close()


async def test_opening_a_book_again_waits_for_whoever_copies_the_files(
    root: Path, index: EdgeIndex
) -> None:
    kill_engine(root)
    async with gate.WriteGate(root).standstill():
        read = asyncio.create_task(index.count("robots"))
        await asyncio.sleep(0.5)
        assert not read.done()
    assert await read == POINTS


async def test_a_request_at_fault_is_answered_and_the_process_lives_on(
    root: Path, index: EdgeIndex
) -> None:
    before = engine(root)
    with pytest.raises(InvalidRequest, match="lesson"):
        await index.count("robots", Filters(lesson=2**64))
    with pytest.raises(InvalidRequest, match="module"):
        await index.count("robots", Filters(module="\ud800"))
    store = next(iter(index._generation._open.values()))._store  # pyright: ignore
    with pytest.raises(IndexUnavailable, match="failed to count"):
        store.count([Match("lesson", (2**64,))])
    assert await whole(index)
    assert engine(root) == before


async def test_what_the_process_prints_is_no_answer(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('hello' * 100)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    index = await EdgeIndex.open(root, apart=True)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1)])
    assert await index.count("robots") == 1
    await index.close()


async def test_a_process_that_cannot_be_started_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await EdgeIndex.open(root, apart=True)
    await index.prepare(EMBEDDER)
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", str(root / "nothing"))
        with pytest.raises(IndexUnavailable, match="can't be started"):
            await index.upsert([make_point(1)])
    await index.upsert([make_point(1)])
    assert await index.count("robots") == 1
    await index.close()


async def test_closing_does_not_wait_for_a_process_that_hangs(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(edge, "LAST_CALL_S", 0.2)
    index = await EdgeIndex.open(root, apart=True)
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(1)])
    await index.commit()
    stop_engine(root)
    read = asyncio.create_task(index.count("robots"))
    await asyncio.sleep(0.1)
    async with asyncio.timeout(5):
        await index.close()
    with pytest.raises(IndexUnavailable, match="SIGKILL"):
        await read
    assert engines(root) == []
    assert "not closed in order" in caplog.text
    index = await EdgeIndex.open(root)
    assert await index.count("robots") == 1
    await index.close()


async def test_a_book_that_could_not_be_made_leaves_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await EdgeIndex.open(root, apart=True)
    await index.prepare(EMBEDDER)

    def fail(*_: object) -> None:
        raise IndexUnavailable("the engine failed")

    with monkeypatch.context() as broken:
        broken.setattr(apart.RemoteStore, "index_field", fail)
        with pytest.raises(IndexUnavailable):
            await index.upsert([make_point(1)])
    assert list((root / "quire@1").iterdir()) == []
    await index.upsert([make_point(1)])
    await index.close()
