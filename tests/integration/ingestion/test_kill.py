"""kill -9 of the ingesting process at random moments: a rerun always ends in a clean state."""

from __future__ import annotations

import multiprocessing
import random
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from quire.index.edge import EdgeIndex
from quire.index.port import Index
from quire.ingestion.invariants import check_chunks
from quire.models import Chunk
from tests.faults.scale import LONG, SEED, note, scale
from tests.integration.ingestion import victim
from tests.workshop import Workshop, all_chunks, open_workshop, page, timeless

PAGES = 40
KILLS = scale(50, 500)
CHECK_EVERY = 10


def change(root: Path, rng: random.Random) -> None:
    """Edit some pages, move one, take one away and bring one."""
    folder = root / "guide"
    folder.mkdir(parents=True, exist_ok=True)
    while len(list(folder.iterdir())) < PAGES:
        number = rng.randrange(1000)
        (folder / f"page-{number:03}.md").write_text(page(number, sections=2))
    names = sorted(folder.iterdir())
    for path in rng.sample(names, 8):
        text = path.read_text().strip() + f"\n\nRemark number {rng.randrange(10**6)} on this.\n"
        path.write_text(text if len(text) < 6000 else page(rng.randrange(1000), sections=2))
    moved, removed = rng.sample(names, 2)
    moved.rename(folder / f"moved-{rng.randrange(10**6):06}.md")
    removed.unlink()


def kill_at_random(folder: Path, rng: random.Random, longest: float) -> tuple[bool, float]:
    """Run the victim and kill it; whether it was still at work, and how long it worked."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([victim.__name__])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=victim.ingest, args=(folder, theirs))
    process.start()
    theirs.close()
    assert ours.recv() == "started"
    began = time.monotonic()
    finished = ours.poll(rng.random() * longest)
    process.kill()
    process.join()
    ours.close()
    return not finished, time.monotonic() - began


async def contents(index: Index) -> dict[str, Chunk]:
    found = await all_chunks(index, "book")
    return {key: timeless(replace(chunk, version=1)) for key, chunk in found.items()}


async def check(folder: Path, clean_folder: Path) -> None:
    """Rerun, and compare with a first ingest of the same files."""
    index = await EdgeIndex.open(folder / "index")
    async with open_workshop(folder, index=index) as shop, open_workshop(clean_folder) as clean:
        await shop.ingester.run(shop.book)
        await clean.ingester.run(shop.book)
        assert await contents(shop.index) == await contents(clean.index)
        await same_vectors(shop.index, clean.index)
        await records_agree(shop)
        sources = {
            str(path.relative_to(shop.root)): path.read_text() for path in shop.root.rglob("*.md")
        }
        chunks = list((await all_chunks(shop.index, "book")).values())
        assert check_chunks(chunks, sources) == []
        again = await shop.ingester.repair(shop.book)
        assert (again.files_processed, again.chunks_deleted, again.embedded) == (0, 0, 0)


async def same_vectors(one: Index, other: Index) -> None:
    ids = sorted(await all_chunks(one, "book"))
    for mine, theirs in zip(
        await one.fetch_points("book", ids), await other.fetch_points("book", ids), strict=True
    ):
        assert np.allclose(mine.dense, theirs.dense, atol=1e-5)
        assert set(mine.bm25.indices) == set(theirs.bm25.indices)


async def records_agree(shop: Workshop) -> None:
    state = await shop.state.load("book")
    assert state is not None
    assert state.settled
    recorded = [key for record in state.records.values() for key in record.chunk_ids]
    assert sorted(recorded) == sorted(await all_chunks(shop.index, "book"))


@pytest.mark.slow
@pytest.mark.timeout(3600 if LONG else 120)
async def test_killed_fifty_times_the_index_equals_a_clean_ingest(tmp_path: Path):
    rng = random.Random(SEED)
    folder = tmp_path / "store"
    (folder / "book").mkdir(parents=True)
    longest, at_work = 1.0, 0
    for number in range(KILLS):
        change(folder / "book", rng)
        killed, lasted = kill_at_random(folder, rng, longest)
        at_work += killed
        longest = 0.7 * longest + 0.3 * (1.3 * lasted if not killed else longest)
        if (number + 1) % CHECK_EVERY == 0:
            await check(folder, tmp_path / f"clean-{number}")
    note("kills", kills=KILLS, at_work=at_work)
    assert at_work > KILLS // 2
