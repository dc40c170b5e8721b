"""The engine in a process of its own: one of the two may end at any moment."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from quire.errors import IndexUnavailable, StoreLocked
from quire.index import apart, edge
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


async def gone(root: Path) -> None:
    async with asyncio.timeout(10):
        while engines(root):  # noqa: ASYNC110 (another process)
            await asyncio.sleep(0.01)


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
    root: Path, index: EdgeIndex
) -> None:
    killed = engine(root)
    os.kill(killed, signal.SIGKILL)
    with suppress(IndexUnavailable):  # or it is known to be gone by now
        await index.count("robots")
    assert await whole(index)
    assert engine(root) != killed
    await index.upsert([make_point(POINTS)])
    await index.commit()
    assert await index.count("robots") == POINTS + 1


async def test_a_book_may_be_removed_after_its_process_was_killed(
    root: Path, index: EdgeIndex
) -> None:
    os.kill(engine(root), signal.SIGKILL)
    await gone(root)
    await index.delete_book("robots")
    assert await index.books() == []
    await index.upsert([make_point(1)])
    assert await index.count("robots") == 1


async def test_a_call_that_takes_too_long_is_given_up(
    root: Path, index: EdgeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.kill(engine(root), signal.SIGKILL)
    monkeypatch.setattr(apart, "CALL_SECONDS", 2.0)
    with pytest.raises(IndexUnavailable):
        await index.count("robots")
    assert await whole(index)
    os.kill(engine(root), signal.SIGSTOP)
    with pytest.raises(IndexUnavailable, match="took longer than 2 s"):
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
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = start_writer(root, apart=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "open\n"
    committed = int(writer.stdout.readline())
    left = engine(root)
    os.kill(left, signal.SIGSTOP)
    writer.kill()
    writer.stdout.close()
    writer.wait()
    monkeypatch.setattr(edge, "LAST_CALL_S", 0.2)
    with pytest.raises(StoreLocked, match="left its index's process at work"):
        await EdgeIndex.open(root)
    os.kill(left, signal.SIGCONT)
    monkeypatch.setattr(edge, "LAST_CALL_S", 10.0)
    index = await EdgeIndex.open(root)
    assert await index.count("robots") >= committed
    await index.close()
