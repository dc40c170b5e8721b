from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from quire.errors import EmbedderMismatch
from quire.index.lexical import Bm25
from quire.index.port import EmbedderInfo, Point
from quire.models import Chunk, Filters
from quire.retrieval import Order, Searcher
from quire.retrieval.searcher import Tuning
from quire.testing.embedding import HashEmbedder
from quire.testing.index import MemoryIndex
from tests.chunks import make_chunk

TEXTS = {
    "topics": "A topic is a named bus over which nodes exchange messages.",
    "services": "A service answers one request with one response.",
    "wheels": "The wheels of the rover are driven by four motors.",
}


async def stocked(
    embedder: HashEmbedder, texts: Mapping[str, str] = TEXTS, index: MemoryIndex | None = None
) -> MemoryIndex:
    index = index or MemoryIndex()
    await index.prepare(EmbedderInfo(embedder.name, embedder.dimension))
    vectors = await embedder.embed_documents(list(texts.values()))
    ids = [f"00000000-0000-5000-8000-00000000000{i}" for i in range(len(texts))]
    for i, (name, text) in enumerate(texts.items()):
        chunk = make_chunk(
            text,
            id=ids[i],
            module=name,
            chunk_index=i,
            total_chunks=len(texts),
            prev_chunk_id=ids[i - 1] if i else None,
            next_chunk_id=ids[i + 1] if i + 1 < len(texts) else None,
        )
        await index.upsert([Point(chunk, vectors[i], Bm25().document(text))])
    return index


@pytest.fixture
async def searcher() -> Searcher:
    embedder = HashEmbedder()
    return Searcher(await stocked(embedder), embedder)


async def test_the_best_passage_comes_first_and_scores_fall(searcher: Searcher) -> None:
    found = await searcher.retrieve("book", "How do nodes exchange messages?")
    assert found.passages[0].chunk.text == TEXTS["topics"]
    assert [p.number for p in found.passages] == [1, 2, 3]
    scores = [p.score for p in found.passages]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


async def test_a_threshold_cuts_on_the_score_that_is_shown(searcher: Searcher) -> None:
    everything = await searcher.retrieve("book", "nodes exchange messages")
    cut = everything.passages[0].score
    some = await searcher.retrieve("book", "nodes exchange messages", score_threshold=cut)
    assert [p.chunk.id for p in some.passages] == [everything.passages[0].chunk.id]
    nothing = await searcher.retrieve("book", "nodes exchange messages", score_threshold=1.0)
    assert nothing.passages == ()
    assert not nothing.confidence.should_answer


async def test_filters_and_books_bound_what_is_found(searcher: Searcher) -> None:
    found = await searcher.retrieve("book", "nodes", filters=Filters(module="wheels"))
    assert [p.chunk.module for p in found.passages] == ["wheels"]
    other = await searcher.retrieve("other", "nodes")
    assert other.passages == ()


async def test_top_k_limits_but_does_not_change_the_order(searcher: Searcher) -> None:
    three = await searcher.retrieve("book", "request", top_k=3)
    one = await searcher.retrieve("book", "request", top_k=1)
    assert one.passages[0].chunk.id == three.passages[0].chunk.id


class _Counting(MemoryIndex):
    searches = 0

    async def find(self, *args: Any, **options: Any) -> Any:
        self.searches += 1
        return await super().find(*args, **options)


async def test_a_misspelt_question_is_read_as_the_chunks_near_it_say() -> None:
    embedder, index = HashEmbedder(), _Counting()
    more = {**TEXTS, "queues": "A queue keeps messages until a slow node reads them."}
    searcher = Searcher(await stocked(embedder, more, index), embedder)
    found = await searcher.retrieve("book", "How do nodes exchange mesages?", top_k=1)
    assert found.meant == "How do nodes exchange messages?"
    assert [p.chunk.text for p in found.passages] == [TEXTS["topics"]]
    assert index.searches == 2  # as it was written, and as it was meant
    index.searches = 0
    assert (await searcher.retrieve("book", "How do nodes exchange gadgets?")).meant is None
    assert index.searches == 1
    assert (await searcher.retrieve("book", found.query, literal=True)).meant is None


async def test_an_empty_index_answers_with_nothing() -> None:
    found = await Searcher(MemoryIndex(), HashEmbedder()).retrieve("book", "anything")
    assert found.passages == ()
    assert found.confidence.level == "insufficient"


async def test_another_embedder_is_refused_with_the_way_out() -> None:
    index = await stocked(HashEmbedder())
    with pytest.raises(EmbedderMismatch, match="recreate"):
        await Searcher(index, HashEmbedder(name="other")).retrieve("book", "nodes")


async def test_context_walks_the_chain_and_stops_at_its_ends(searcher: Searcher) -> None:
    middle = "00000000-0000-5000-8000-000000000001"
    chunks = await searcher.context("book", middle, before=5, after=5)
    assert [chunk.chunk_index for chunk in chunks] == [0, 1, 2]
    assert [c.chunk_index for c in await searcher.context("book", middle)] == [1]
    assert await searcher.context("other", middle, before=1) == []


async def test_a_document_is_its_chunks_in_order(searcher: Searcher) -> None:
    parent = make_chunk().parent_doc_id
    assert [c.chunk_index for c in await searcher.document("book", parent)] == [0, 1, 2]
    assert await searcher.document("other", parent) == []


async def test_what_is_read_first_is_the_callers_to_say() -> None:
    embedder = HashEmbedder()
    index = await stocked(embedder)
    order = Order(lambda _, chunk: 0 if "rover" in chunk.text else 1)
    searcher = Searcher(index, embedder, order=order)

    async def first(*, read: bool) -> str:
        found = await searcher.retrieve(
            "book", "How do nodes exchange messages?", top_k=1, read=read
        )
        return found.passages[0].chunk.text

    assert await first(read=False) == TEXTS["topics"]
    assert await first(read=True) == TEXTS["wheels"]


@pytest.mark.parametrize(
    ("place", "seeks", "first"),
    [(1, False, "topics"), (1, True, "wheels"), (0, True, "topics")],
)
async def test_what_nothing_near_says_is_looked_for_in_all_that_was_found(
    place: int, seeks: bool, first: str
) -> None:
    embedder = HashEmbedder()

    def far(_: str) -> Callable[[Chunk], bool] | None:
        return (lambda chunk: "rover" in chunk.text) if seeks else None

    order = Order(lambda _question, _chunk: place, far)
    searcher = Searcher(await stocked(embedder), embedder, order=order, tuning=Tuning(spare=0))
    found = await searcher.retrieve("book", "How do nodes exchange messages?", top_k=1, read=True)
    assert [passage.chunk.text for passage in found.passages] == [TEXTS[first]]


async def test_what_is_to_be_diverse_is_chosen_from_all() -> None:
    embedder = HashEmbedder()
    twins = {
        "one": "Nodes exchange messages over a topic.",
        "two": "Nodes exchange messages over a topic, always.",
        "other": "A service answers messages of nodes.",
    }
    searcher = Searcher(await stocked(embedder, twins), embedder, tuning=Tuning(relevance=0.1))
    found = await searcher.retrieve("book", "nodes exchange messages over a topic", top_k=2)
    assert twins["other"] in [passage.chunk.text for passage in found.passages]
