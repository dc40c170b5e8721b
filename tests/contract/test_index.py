"""The index port: the same promises on every adapter and on the fake.

The server adapter runs on the client's in-memory mode; with QUIRE_TEST_QDRANT_URL set it runs
on that server instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from quire.errors import Conflict, EmbedderMismatch, InvalidRequest
from quire.index.copy import copy_book
from quire.index.finds import Question
from quire.index.port import EmbedderInfo, Index
from quire.models import Chunk, Filters
from quire.testing.index import MemoryIndex
from tests.contract.index_suite import (
    BM25,
    DIMENSION,
    EMBEDDER,
    SERVER,
    First,
    adapter,
    chunk_id,
    make_chunk,
    make_point,
    memory_disk,
    opener,
    vector,
)

KINDS = ("memory", "edge", "apart", "server")
pytestmark = [
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with memory_disk(tmp_path) as place:
        yield place


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def empty(kind: str, folder: Path) -> AsyncIterator[Index]:
    async with adapter(kind, folder) as index:
        yield index


@pytest.fixture
async def index(empty: Index) -> Index:
    """Forty chunks of one book."""
    await empty.prepare(EMBEDDER)
    await empty.upsert([make_point(number) for number in range(40)])
    return empty


async def everything(index: Index, book: str, filters: Filters = Filters()) -> list[Chunk]:
    found: list[Chunk] = []
    cursor: str | None = None
    while True:
        page, cursor = await index.scroll(book, filters, after=cursor, limit=7)
        found += page
        if cursor is None:
            return found


def numbers(chunks: Sequence[Chunk], book: str = "robots") -> set[int]:
    known = {chunk_id(book, number): number for number in range(100)}
    return {known[chunk.id] for chunk in chunks}


class TestStoring:
    async def test_a_chunk_comes_back_as_it_was_stored(self, index: Index) -> None:
        asked = [chunk_id("robots", number) for number in (3, 0, 39)]
        assert await index.fetch("robots", asked) == [make_chunk(n) for n in (3, 0, 39)]

    async def test_fetch_leaves_out_unknown_and_malformed_ids(self, index: Index) -> None:
        known = chunk_id("robots", 5)
        asked = ["no-uuid", chunk_id("robots", 99), known, known.upper(), ""]
        assert [chunk.id for chunk in await index.fetch("robots", asked)] == [known]

    async def test_fetch_points_brings_the_vectors(self, index: Index) -> None:
        (point,) = await index.fetch_points("robots", [chunk_id("robots", 7)])
        expected = make_point(7)
        assert point.chunk == expected.chunk
        np.testing.assert_allclose(point.dense, expected.dense, atol=1e-6)
        stored = dict(zip(point.bm25.indices, point.bm25.values, strict=True))
        wanted = dict(zip(expected.bm25.indices, expected.bm25.values, strict=True))
        assert stored == pytest.approx(wanted)

    async def test_upsert_replaces_by_id(self, index: Index) -> None:
        changed = make_point(4, text="Quaternions describe rotations.", module="isaac")
        await index.upsert([changed])
        assert await index.count("robots") == 40
        assert await index.fetch("robots", [changed.chunk.id]) == [changed.chunk]
        assert await index.count("robots", Filters(module="isaac")) == 1
        hits = await index.search("robots", dense=None, bm25=BM25.query("quaternion"), limit=5)
        assert [hit.chunk.id for hit in hits.bm25] == [changed.chunk.id]

    async def test_update_chunks_keeps_vectors_and_ignores_unknown_ids(self, index: Index) -> None:
        before = await index.search("robots", dense=vector(9), bm25=None, limit=1)
        moved = replace(make_chunk(9), chapter=17, next_chunk_id=None, version=2)
        await index.update_chunks([moved, make_chunk(77)])
        assert await index.count("robots") == 40
        after = await index.search("robots", dense=vector(9), bm25=None, limit=1)
        assert [hit.chunk for hit in after.dense] == [moved]
        assert after.dense[0].score == pytest.approx(before.dense[0].score)
        assert numbers(await everything(index, "robots", Filters(chapter_min=17))) == {9}

    async def test_delete_removes_only_what_is_named(self, index: Index) -> None:
        ids = [chunk_id("robots", 1), chunk_id("robots", 2), chunk_id("robots", 99), "no-uuid"]
        await index.delete("robots", ids)
        await index.delete("robots", [])
        await index.delete("nobody", ids)
        assert numbers(await everything(index, "robots")) == set(range(40)) - {1, 2}
        hits = await index.search("robots", dense=vector(1), bm25=None, limit=40)
        assert len(hits.dense) == 38

    async def test_delete_book_removes_all_of_it_and_it_can_come_back(self, index: Index) -> None:
        await index.delete_book("robots")
        await index.delete_book("nobody")
        assert await index.count("robots") == 0
        assert await index.scroll("robots") == ([], None)
        assert await index.books() == []
        await index.upsert([make_point(1)])
        assert await index.count("robots") == 1

    async def test_a_book_whose_chunks_are_all_deleted_is_no_book(self, index: Index) -> None:
        await index.delete("robots", [chunk_id("robots", number) for number in range(40)])
        assert await index.books() == []
        await index.upsert([make_point(3)])
        assert await index.books() == ["robots"]

    async def test_upsert_refuses_an_id_that_no_store_can_hold(self, index: Index) -> None:
        with pytest.raises(InvalidRequest):
            await index.upsert([make_point(1, id="page-1")])

    async def test_a_chunk_without_terms_is_stored_and_found_by_its_vector(
        self, index: Index
    ) -> None:
        await index.upsert([make_point(50, text="?!")])
        hits = await index.search("robots", dense=vector(50), bm25=BM25.query("?!"), limit=1)
        assert hits.dense[0].chunk.text == "?!"
        assert hits.bm25 == ()

    async def test_writing_needs_prepare(self, empty: Index) -> None:
        with pytest.raises(Conflict):
            await empty.upsert([make_point(1)])

    async def test_an_index_without_collection_is_empty(self, empty: Index) -> None:
        assert await empty.embedder() is None
        assert await empty.books() == []
        assert await empty.count("robots") == 0
        assert await empty.fetch("robots", [chunk_id("robots", 1)]) == []
        assert await empty.scroll("robots") == ([], None)
        found = await empty.search("robots", dense=vector(1), bm25=BM25.query("x"), limit=3)
        assert (found.dense, found.bm25) == ((), ())
        await empty.delete("robots", [chunk_id("robots", 1)])
        await empty.delete_book("robots")
        await empty.update_chunks([make_chunk(1)])
        await empty.commit()


class TestPaging:
    async def test_pages_cover_everything_once_in_id_order(self, index: Index) -> None:
        found = [chunk.id for chunk in await everything(index, "robots")]
        assert found == sorted(chunk_id("robots", number) for number in range(40))

    async def test_a_full_last_page_ends_the_list(self, index: Index) -> None:
        page, cursor = await index.scroll("robots", limit=40)
        assert (len(page), cursor) == (40, None)

    async def test_deleting_a_page_does_not_lose_the_place(self, index: Index) -> None:
        page, cursor = await index.scroll("robots", limit=10)
        assert cursor is not None
        await index.delete("robots", [chunk.id for chunk in page] + [cursor])
        rest, _ = await index.scroll("robots", after=cursor, limit=100)
        assert len(rest) == 29

    async def test_a_foreign_cursor_is_refused(self, index: Index) -> None:
        with pytest.raises(InvalidRequest):
            await index.scroll("robots", after="page 2")


CHUNKS = [make_chunk(number) for number in range(40)]
PAGE = CHUNKS[8].source_url.partition("#")[0]
FILTERS: dict[str, tuple[Filters, set[int]]] = {
    "tier": (Filters(hardware_tier=2), {n for n in range(40) if CHUNKS[n].hardware_tier <= 2}),
    "module": (
        Filters(module="gazebo"),
        {n for n in range(40) if n // 4 % 2},
    ),
    "chapter from": (Filters(chapter_min=7), set(range(28, 40))),
    "chapter to": (Filters(chapter_max=1), set(range(8))),
    "chapter range": (Filters(chapter_min=2, chapter_max=3), set(range(8, 16))),
    "chapter zero": (Filters(chapter_min=0, chapter_max=0), set(range(4))),
    "lesson": (Filters(lesson=0), set(range(0, 40, 3))),
    "levels": (
        Filters(proficiency_levels=("A1", "B1")),
        {n for n in range(40) if n % 3 in (0, 2)},
    ),
    "layer": (Filters(layer="L2"), set(range(1, 40, 2))),
    "parent": (Filters(parent_doc_id=CHUNKS[12].parent_doc_id), set(range(12, 16))),
    "page": (Filters(source_url=(PAGE,)), set(range(8, 12))),
    "page with slash": (Filters(source_url=(PAGE + "/",)), set(range(8, 12))),
    "page with empty anchor": (Filters(source_url=(PAGE + "#",)), set(range(8, 12))),
    "section": (Filters(source_url=(CHUNKS[9].source_url,)), {9}),
    "section with slash": (Filters(source_url=(PAGE + "/#section-1",)), {9}),
    "page or section": (Filters(source_url=(PAGE, CHUNKS[21].source_url)), {8, 9, 10, 11, 21}),
    "unknown page": (Filters(source_url=("https://books.example/page",)), set()),
    "title": (Filters(page_title=("Page 1", "Page 3")), {4, 5, 6, 7, 12, 13, 14, 15}),
    "heading": (Filters(section_heading=("Section 2",)), set(range(2, 40, 4))),
    "headings": (
        Filters(section_heading=("Section 2", "Section 3")),
        {n for n in range(40) if n % 4 in (2, 3)},
    ),
    "file": (Filters(source_file=("docs/page-9.md",)), set(range(36, 40))),
    "files": (
        Filters(source_file=("docs/page-9.md", "docs/page-0.md")),
        {0, 1, 2, 3, 36, 37, 38, 39},
    ),
    "language": (Filters(language="ur"), set(range(0, 40, 5))),
    "all at once": (
        Filters(
            hardware_tier=3,
            module="ros2",
            chapter_min=0,
            chapter_max=8,
            proficiency_levels=("A1", "A2"),
            layer="L1",
            source_url=("https://books.example/page-2", "https://books.example/page-4"),
            page_title=("Page 2", "Page 4"),
            language="en",
        ),
        {
            n
            for n in (8, 9, 10, 11, 16, 17, 18, 19)
            if n % 4 <= 2 and n % 3 < 2 and n % 2 == 0 and n % 5
        },
    ),
    "contradiction": (Filters(module="ros2", page_title=("Page 1",)), set()),
}


class TestFilters:
    async def test_every_filter_alone_and_together(self, index: Index) -> None:
        """One index for all cases: scroll, count and both searches narrow alike."""
        question = BM25.query("passage number page robots")
        for name, (filters, expected) in FILTERS.items():
            assert numbers(await everything(index, "robots", filters)) == expected, name
            assert await index.count("robots", filters) == len(expected), name
            found = await index.search(
                "robots", dense=vector(0), bm25=question, filters=filters, limit=40
            )
            assert numbers([hit.chunk for hit in found.dense]) == expected, name
            assert numbers([hit.chunk for hit in found.bm25]) == expected, name


class TestSearch:
    async def test_dense_hits_are_the_nearest_with_their_cosine(self, index: Index) -> None:
        found = await index.search("robots", dense=vector(5), bm25=None, limit=10)
        cosines = {number: float(vector(number) @ vector(5)) for number in range(40)}
        nearest = sorted(cosines, key=lambda number: -cosines[number])[:10]
        assert [hit.chunk.id for hit in found.dense] == [chunk_id("robots", n) for n in nearest]
        assert [hit.score for hit in found.dense] == pytest.approx(
            [cosines[n] for n in nearest], abs=1e-5
        )
        assert found.bm25 == ()

    async def test_bm25_scores_are_those_of_the_formula(self, index: Index) -> None:
        """The fake's arithmetic is the reference; it applies the IDF over the book itself."""
        reference = MemoryIndex()
        await reference.prepare(EMBEDDER)
        await reference.upsert([make_point(number) for number in range(40)])
        question = BM25.query("passage 12 of page 3 in which book?")
        expected = await reference.search("robots", dense=None, bm25=question, limit=50)
        found = await index.search("robots", dense=None, bm25=question, limit=50)
        assert {hit.chunk.id: hit.score for hit in found.bm25} == pytest.approx(
            {hit.chunk.id: hit.score for hit in expected.bm25}, rel=1e-4
        )
        scores = [hit.score for hit in found.bm25]
        assert scores == sorted(scores, reverse=True)
        assert found.bm25[0].chunk.id == chunk_id("robots", 12)

    async def test_a_search_repeats_exactly(self, index: Index) -> None:
        question = BM25.query("passage page")
        first = await index.search("robots", dense=vector(3), bm25=question, limit=20)
        second = await index.search("robots", dense=vector(3), bm25=question, limit=20)
        for before, after in ((first.dense, second.dense), (first.bm25, second.bm25)):
            assert [hit.chunk for hit in after] == [hit.chunk for hit in before]
            assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before])

    async def test_vectors_come_only_when_asked_for(self, index: Index) -> None:
        question = BM25.query("passage")
        plain = await index.search("robots", dense=vector(3), bm25=question, limit=5)
        assert all(hit.dense is None for hit in plain.dense + plain.bm25)
        assert all(hit.terms is None for hit in plain.dense + plain.bm25)
        full = await index.search(
            "robots", dense=vector(3), bm25=question, limit=5, with_vectors=True
        )
        for hit in full.dense + full.bm25:
            number = next(iter(numbers([hit.chunk])))
            assert hit.dense is not None
            np.testing.assert_allclose(hit.dense, vector(number), atol=1e-6)
            stored = (await index.fetch_points("robots", [hit.chunk.id]))[0].bm25
            assert hit.terms is not None
            assert sorted(hit.terms.ids) == sorted(stored.indices)
            assert sorted(hit.terms.weights) == pytest.approx(sorted(stored.values))
        again = await index.search("robots", dense=vector(3), bm25=None, limit=5)
        assert all(hit.dense is None for hit in again.dense)

    async def test_what_is_found_is_ranked_and_only_what_was_chosen_comes_back(
        self, index: Index
    ) -> None:
        await index.upsert([make_point(n) for n in range(40)])
        question = Question.of("passage number 7", vector(3))
        expected = await index.search(
            "robots", dense=vector(3), bm25=question.bm25, limit=10, with_vectors=True
        )
        choice, hits = await index.find("robots", question, limit=10, choose=First)
        found = [hit.chunk.id for hit in expected.dense]
        found += [hit.chunk.id for hit in expected.bm25 if hit.chunk.id not in found]
        assert [hit.chunk.id for hit in hits] == found[:3]
        assert len(choice.finds) == len(found)
        assert choice.finds.cosine[:10] == pytest.approx(
            [hit.score for hit in expected.dense], abs=1e-5
        )
        assert all(hit.dense is not None and hit.terms is not None for hit in hits)
        _, narrowed = await index.find(
            "robots", question, filters=Filters(module="gazebo"), limit=10, choose=First
        )
        assert {hit.chunk.module for hit in narrowed} == {"gazebo"}
        choice, hits = await index.find("no-such-book", question, limit=10, choose=First)
        assert (len(choice.finds), hits) == (0, ())

    async def test_a_search_sees_what_was_just_written(self, index: Index) -> None:
        """Also for a chunk that was returned before: nothing cached is stale."""
        for version in range(2, 6):
            changed = replace(make_chunk(6), version=version, text=f"Edition {version} of it.")
            await index.update_chunks([changed])
            found = await index.search("robots", dense=vector(6), bm25=None, limit=1)
            assert found.dense[0].chunk == changed

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("create_publisher", "Call `node.create_publisher(String, 'chatter', 10)` once."),
            ("createPublisher", "Call `node.create_publisher(String, 'chatter', 10)` once."),
            ("publisher", "Call `node.create_publisher(String, 'chatter', 10)` once."),
            ("rclpy.node.Node", "Derive from `rclpy.node.Node`."),
            ("symlink-install", "Build with `colcon build --symlink-install`."),
            ("--symlink-install", "Build with `colcon build --symlink-install`."),
            ("ROS2", "Install the ros2 command line tools."),
            ("python 3.11", "It needs Python 3.11 or later."),
            ("cmd_vel", "Velocities go to the topic /cmd_vel as Twist."),
            ("package.xml", "Dependencies stand in src/demo/package.xml of the package."),
            ("HTTPServer", "An HTTPServer answers on port 8000."),
            ("cafe", "The café robot serves coffee."),
            ("واپسی", "روبوٹ کی واپسی کا راستہ"),
            ("操作系统", "机器人操作系统很有用"),
        ],
    )
    async def test_bm25_finds_identifiers_and_words(self, question: str, text: str) -> None:
        """The analyzer decides this, the store only counts: one adapter is enough."""
        index = MemoryIndex()
        await index.prepare(EMBEDDER)
        await index.upsert([make_point(number) for number in range(10)])
        await index.upsert([make_point(60, text=text)])
        found = await index.search("robots", dense=None, bm25=BM25.query(question), limit=3)
        assert found.bm25[0].chunk.text == text


class TestTenants:
    @pytest.fixture
    async def two(self, index: Index) -> Index:
        """A second book with the same vectors and words."""
        await index.upsert([make_point(number, book="Robots") for number in range(40)])
        return index

    async def test_nothing_leaks_from_one_book_to_the_other(self, two: Index) -> None:
        question = BM25.query("passage number robots")
        for book in ("robots", "Robots"):
            found = await two.search(book, dense=vector(1), bm25=question, limit=100)
            hits = found.dense + found.bm25
            assert {hit.chunk.book_id for hit in hits} == {book}
            assert len(found.dense) == len(found.bm25) == 40
            assert {chunk.book_id for chunk in await everything(two, book)} == {book}
            assert await two.count(book) == 40
            assert await two.count(book, Filters(module="ros2")) == 20
        assert await two.books() == ["Robots", "robots"]

    async def test_another_books_ids_are_unknown_ids(self, two: Index) -> None:
        foreign = [chunk_id("Robots", number) for number in range(5)]
        assert await two.fetch("robots", foreign) == []
        assert await two.fetch_points("robots", foreign) == []
        await two.delete("robots", foreign)
        assert await two.count("Robots") == 40
        stolen = [replace(make_chunk(1, book="Robots"), book_id="robots", text="stolen")]
        await two.update_chunks(stolen)
        (kept,) = await two.fetch("Robots", [stolen[0].id])
        assert (kept.text, kept.book_id) == (make_chunk(1, book="Robots").text, "Robots")

    async def test_deleting_a_book_leaves_the_other(self, two: Index) -> None:
        await two.delete_book("Robots")
        assert await two.count("robots") == 40
        assert await two.books() == ["robots"]

    async def test_look_alike_books_are_empty(self, index: Index) -> None:
        for book in ("robot", "robots ", "../robots", "robots.1", "*", "%", ""):
            assert await index.count(book) == 0
            assert await index.fetch(book, [chunk_id("robots", 1)]) == []
            found = await index.search(book, dense=vector(1), bm25=None, limit=3)
            assert found.dense == ()

    async def test_ids_of_books_may_be_any_text(self, index: Index) -> None:
        books = ["../../etc", "Ünïcode/книга", "a%2fb"]
        for book in books:
            await index.upsert([make_point(1, book=book)])
        for book in books:
            (chunk,) = await index.fetch(book, [chunk_id(book, 1)])
            assert chunk.book_id == book
        assert await index.books() == sorted([*books, "robots"])

    async def test_a_second_book_does_not_change_the_scores_of_the_first(
        self, index: Index
    ) -> None:
        """IDF is over the book (on a server: with a version that knows the `idf` parameter)."""
        question = BM25.query("passage page 7 robots")
        before = await index.search("robots", dense=None, bm25=question, limit=50)
        others = [make_point(n, text="Page 7, page 7: robots.", book="other") for n in range(60)]
        await index.upsert(others)
        after = await index.search("robots", dense=None, bm25=question, limit=50)
        assert [hit.chunk for hit in after.bm25] == [hit.chunk for hit in before.bm25]
        assert [hit.score for hit in after.bm25] == pytest.approx(
            [hit.score for hit in before.bm25], rel=1e-5
        )


class TestEmbedder:
    async def test_prepare_is_idempotent_and_remembers(self, index: Index) -> None:
        await index.prepare(EMBEDDER)
        assert await index.embedder() == EMBEDDER
        assert await index.count("robots") == 40

    @pytest.mark.parametrize("other", [EmbedderInfo("other", DIMENSION), EmbedderInfo("toy", 3)])
    async def test_another_embedder_is_refused_with_the_way_out(
        self, index: Index, other: EmbedderInfo
    ) -> None:
        with pytest.raises(EmbedderMismatch, match="--mode recreate"):
            await index.prepare(other)
        assert await index.embedder() == EMBEDDER

    async def test_a_vector_of_another_length_is_refused(self, index: Index) -> None:
        short = np.ones(3, dtype=np.float32)
        with pytest.raises(EmbedderMismatch):
            await index.search("robots", dense=short, bm25=None, limit=3)
        with pytest.raises(EmbedderMismatch):
            await index.upsert([replace(make_point(1), dense=short)])
        assert await index.count("robots") == 40


class TestRebuild:
    async def test_readers_see_the_old_then_the_new_and_never_a_gap(self, index: Index) -> None:
        other = EmbedderInfo("other", DIMENSION)
        rebuilt = await index.begin_rebuild(other)
        seen: list[int] = []
        done = asyncio.Event()

        async def read() -> None:
            while not done.is_set():
                found = await index.search("robots", dense=vector(1), bm25=None, limit=100)
                seen.append(len(found.dense))
                seen.append(await index.count("robots"))
                await asyncio.sleep(0)

        readers = [asyncio.create_task(read()) for _ in range(4)]
        await rebuilt.upsert([make_point(number) for number in range(25)])
        await rebuilt.commit()
        assert await index.count("robots") == 40
        assert await index.embedder() == EMBEDDER
        await asyncio.sleep(0.02)
        await index.finish_rebuild(rebuilt)
        assert await index.count("robots") == 25
        await asyncio.sleep(0.02)
        done.set()
        results = await asyncio.gather(*readers, return_exceptions=True)
        problems = [result for result in results if result is not None]
        # A reader that still holds the old embedder's vector may be told so, nothing worse.
        assert all(isinstance(problem, EmbedderMismatch) for problem in problems)
        assert set(seen) <= {40, 25}
        assert await index.embedder() == other

    async def test_the_index_works_on_after_the_switch(self, index: Index) -> None:
        rebuilt = await index.begin_rebuild(EMBEDDER)
        await rebuilt.upsert([make_point(1)])
        await index.finish_rebuild(rebuilt)
        await rebuilt.close()
        await index.upsert([make_point(2)])
        await index.commit()
        assert numbers(await everything(index, "robots")) == {1, 2}
        with pytest.raises(Conflict):
            await index.finish_rebuild(rebuilt)

    async def test_a_rebuild_that_is_given_up_leaves_the_old_index(self, index: Index) -> None:
        rebuilt = await index.begin_rebuild(EmbedderInfo("other", 3))
        await rebuilt.close()
        assert await index.count("robots") == 40
        assert await index.embedder() == EMBEDDER
        again = await index.begin_rebuild(EMBEDDER)
        await index.finish_rebuild(again)
        assert await index.count("robots") == 0

    async def test_other_books_can_be_carried_over(self, index: Index) -> None:
        await index.upsert([make_point(number, book="other") for number in range(10)])
        rebuilt = await index.begin_rebuild(EMBEDDER)
        await copy_book(index, rebuilt, "other")
        await index.finish_rebuild(rebuilt)
        assert await index.books() == ["other"]
        assert await index.count("other") == 10

    async def test_an_index_that_never_was_can_be_rebuilt(self, empty: Index) -> None:
        rebuilt = await empty.begin_rebuild(EMBEDDER)
        await rebuilt.upsert([make_point(1)])
        await empty.finish_rebuild(rebuilt)
        assert await empty.count("robots") == 1


class TestCopy:
    async def test_a_book_arrives_with_its_vectors_and_without_leftovers(
        self, index: Index
    ) -> None:
        target = MemoryIndex()
        await target.prepare(EMBEDDER)
        await target.upsert([make_point(77), make_point(5, text="old"), make_point(1, book="b")])
        steps: list[tuple[int, int]] = []
        copied = await copy_book(index, target, "robots", lambda done, of: steps.append((done, of)))
        assert copied == 40
        assert steps[-1] == (40, 40)
        ids = [chunk_id("robots", number) for number in range(40)]
        assert await target.fetch("robots", ids) == await index.fetch("robots", ids)
        assert await target.count("robots") == 40
        assert await target.count("b") == 1
        question = BM25.query("page 3")
        mine = await index.search("robots", dense=vector(3), bm25=question, limit=50)
        theirs = await target.search("robots", dense=vector(3), bm25=question, limit=50)
        for here, there in ((mine.dense, theirs.dense), (mine.bm25, theirs.bm25)):
            scores = {hit.chunk.id: hit.score for hit in there}
            assert {hit.chunk.id: hit.score for hit in here} == pytest.approx(scores, rel=1e-4)

    async def test_another_vector_space_is_refused(self, index: Index) -> None:
        target = MemoryIndex()
        await target.prepare(EmbedderInfo("other", 3))
        with pytest.raises(EmbedderMismatch):
            await copy_book(index, target, "robots")


async def test_concurrent_writers_and_readers_lose_nothing(index: Index) -> None:
    async def write(start: int) -> None:
        for number in range(start, start + 10):
            await index.upsert([make_point(number)])

    async def read() -> None:
        for _ in range(20):
            assert await index.count("robots") >= 40
            assert len(await index.fetch("robots", [chunk_id("robots", 3)])) == 1

    await asyncio.gather(*(write(start) for start in (40, 50, 60, 70)), read(), read())
    await index.commit()
    assert numbers(await everything(index, "robots")) == set(range(80))


@pytest.mark.parametrize("kind", ["edge", "apart", "server"] if SERVER else ["edge", "apart"])
async def test_an_index_opened_again_has_everything(kind: str, folder: Path) -> None:
    open_index = opener(kind, folder)
    index = await open_index()
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(number) for number in range(10)])
    await index.delete("robots", [chunk_id("robots", 0)])
    await index.commit()
    await index.close()
    await index.close()
    index = await open_index()
    try:
        assert await index.embedder() == EMBEDDER
        assert numbers(await everything(index, "robots")) == set(range(1, 10))
        assert await index.books() == ["robots"]
    finally:
        await index.delete_book("robots")
        await index.close()
