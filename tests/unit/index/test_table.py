"""A book's table finds what the engine finds, and never what was overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from quire.index import shard as shard_module
from quire.index.edge import EdgeIndex
from quire.index.engine import EdgeStore
from quire.index.finds import Finds, Question
from quire.index.memory import Memory
from quire.index.port import Hit
from quire.index.shard import Shard
from quire.index.table import Tables, best
from quire.models import Filters
from tests.contract.index_suite import (
    DIMENSION,
    EMBEDDER,
    First,
    chunk_id,
    make_chunk,
    make_point,
    memory_disk,
    vector,
)

QUESTION = Question.of("passage number 7 of page 3", vector(3))
WORDS = ("gripper", "encoder", "wheel", "camera", "lidar")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with memory_disk(tmp_path) as place:
        yield place


def new_shard(folder: Path) -> Shard:
    place = folder / "robots.1"
    return Shard(place, EdgeStore.create(place, DIMENSION), Memory())


@pytest.fixture
def book(folder: Path) -> Iterator[Shard]:
    """Eighty chunks, more than one slice of a table."""
    shard = new_shard(folder)
    shard.upsert([make_point(n, f"Passage {n}: the {WORDS[n % 5]}.") for n in range(80)])
    yield shard
    shard.close()


def find(book: Shard, question: Question = QUESTION) -> tuple[Finds, tuple[Hit, ...]]:
    choice, hits = book.find(question, Filters(), 20, First)
    return choice.finds, hits


def has_table(book: Shard) -> bool:
    return not book.wants_table()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_module, "QUIET_S", 0.0)
    monkeypatch.setattr(shard_module, "LONGEST_QUIET_S", 0.0)


@pytest.mark.parametrize(
    "text", ["the wheel of passage 7", "lidar section 2", "docs about page 3", "nowhere", "of the"]
)
def test_the_engine_and_the_table_find_the_same(book: Shard, text: str) -> None:
    question = Question.of(text, vector(5))
    engine, hits = find(book, question)
    book.read_table()
    assert has_table(book)
    table, again = find(book, question)
    assert [hit.chunk for hit in again] == [hit.chunk for hit in hits]
    assert table.nearest == engine.nearest
    assert table.cosine[:20] == pytest.approx(engine.cosine[:20], abs=1e-5)
    assert table.bm25[:20] == pytest.approx(engine.bm25[:20], rel=1e-3, abs=1e-3)
    assert np.array_equal(table.weights[:20] > 0, engine.weights[:20] > 0)
    assert np.array_equal(table.headings[:20], engine.headings[:20])
    assert np.array_equal(table.section[:20], engine.section[:20])
    assert np.array_equal(table.path[:20], engine.path[:20])
    for name in ("page", "twin"):
        one, two = getattr(engine, name)[:20], getattr(table, name)[:20]
        assert np.array_equal(one[:, None] == one, two[:, None] == two)


def test_a_write_drops_the_table_and_the_next_search_sees_it(book: Shard) -> None:
    book.read_table()
    before = find(book)[1]
    changed = make_chunk(3, "Something else.")
    book.update_chunks([changed])
    assert not has_table(book)
    after = find(book)[1]
    assert before[0].chunk.id == after[0].chunk.id == chunk_id("robots", 3)
    assert after[0].chunk == changed
    book.read_table()
    assert find(book)[1][0].chunk == changed
    book.delete([changed.id])
    assert changed.id not in {hit.chunk.id for hit in find(book)[1]}


def test_a_table_that_was_written_to_while_it_was_read_is_not_kept(book: Shard) -> None:
    slices: list[int] = []

    def write_at_the_second() -> bool:
        slices.append(1)
        if len(slices) == 2:
            book.update_chunks([make_chunk(70, "Changed meanwhile.")])
        return True

    book.read_table(write_at_the_second)
    assert not has_table(book)


def test_no_table_is_read_between_two_batches_of_an_ingestion(
    book: Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_module, "QUIET_S", 1.0)
    monkeypatch.setattr(shard_module, "LONGEST_QUIET_S", 30.0)
    clock = [100.0]
    monkeypatch.setattr(shard_module.time, "monotonic", lambda: clock[0])

    def wanted_after(pause: float, quiet: float) -> bool:
        clock[0] += pause
        book.update_chunks([make_chunk(3)])
        clock[0] += quiet
        return book.wants_table()

    book.update_chunks([make_chunk(3)])
    assert not wanted_after(pause=4.0, quiet=7.0)
    assert wanted_after(pause=0.0, quiet=15.0)
    assert not wanted_after(pause=1000.0, quiet=29.0)
    assert wanted_after(pause=0.0, quiet=60.0)
    book.update_chunks([make_chunk(3)])
    assert not wanted_after(pause=0.01, quiet=0.9)
    assert wanted_after(pause=0.0, quiet=2.0)


def test_reading_a_table_stops_when_told(book: Shard) -> None:
    book.read_table(lambda: False)
    assert not has_table(book)


def test_the_engine_answers_a_search_with_filters(book: Shard) -> None:
    book.read_table()
    filters = Filters(module="gazebo")
    _, hits = book.find(QUESTION, filters, 20, First)
    assert {hit.chunk.module for hit in hits} == {"gazebo"}


def test_tables_keep_to_their_limit_and_those_searched_last_stay(book: Shard) -> None:
    book.read_table()
    tables = Tables(rows=170)
    table = book._memory.tables.get(book._key)
    assert table is not None
    tables.put(1, table)
    tables.put(2, table)
    tables.get(1)
    tables.put(3, table)
    assert [tables.get(key) is not None for key in (1, 2, 3)] == [True, False, True]
    assert tables.fits(170)
    assert not tables.fits(171)
    assert not tables.fits(0)


def test_a_book_without_words_is_found_by_its_vectors(folder: Path) -> None:
    book = new_shard(folder)
    book.upsert([make_point(n, "?!", page_title="…", section_title=None) for n in range(3)])
    expected = [hit.chunk for hit in find(book)[1]]
    book.read_table()
    assert has_table(book)
    finds, hits = find(book)
    assert [hit.chunk for hit in hits] == expected
    assert not finds.bm25.any()
    book.close()


def test_the_best_rows_are_in_order_and_of_equals_the_first() -> None:
    scores = np.array([0.1, 0.5, 0.3, 0.5, 0.5, 0.2])
    assert best(scores, 2).tolist() == [1, 3]
    assert best(scores, 4).tolist() == [1, 3, 4, 2]
    assert best(scores, 9).tolist() == [1, 3, 4, 2, 5, 0]


async def test_the_index_reads_a_table_when_a_book_is_searched(folder: Path) -> None:
    index = await EdgeIndex.open(folder / "index")
    try:
        await index.prepare(EMBEDDER)
        await index.upsert([make_point(n) for n in range(40)])
        first = await index.find("robots", QUESTION, limit=5, choose=First)
        await index.settled()
        assert len(index._generations.memory.tables._tables) == 1
        second = await index.find("robots", QUESTION, limit=5, choose=First)
        assert [hit.chunk for hit in second[1]] == [hit.chunk for hit in first[1]]
        await index.delete_book("robots")
        assert not index._generations.memory.tables._tables
        assert (await index.find("robots", QUESTION, limit=5, choose=First))[1] == ()
    finally:
        await index.close()
