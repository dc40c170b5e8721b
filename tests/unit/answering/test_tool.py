import json

import pytest

from quire.answering.question import Question
from quire.answering.tool import PARAMETERS, retrieve_documentation
from quire.answering.turn import Turn
from quire.errors import IndexUnavailable
from quire.models import Filters
from quire.testing.answering import FakeRetriever, make_chunk

CHUNK = make_chunk("A node is a process.")
FOREIGN = make_chunk("A node is a secret.", book_id="other")


def make_turn(retriever: FakeRetriever, **bound: object) -> Turn:
    question = Question(text="What is a node?", book_id="book", **bound)  # type: ignore[arg-type]
    return Turn(question=question, standalone=question.text, retriever=retriever)


async def test_the_result_has_the_fields_of_the_contract() -> None:
    turn = make_turn(FakeRetriever([CHUNK, FOREIGN]))
    result = json.loads(await retrieve_documentation(turn, '{"query": "node"}'))
    assert result["total_results"] == len(result["results"]) == 1
    assert result["query"] == "node"
    assert result["results"][0] == {
        "chunk_text": CHUNK.text,
        "page_title": CHUNK.page_title,
        "section_heading": CHUNK.section_title,
        "source_url": CHUNK.source_url,
        "similarity_score": 1.0,
        "rank": 1,
    }


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "nonsense",
        "[]",
        '{"query": ""}',
        '{"query": "x", "top_k": 0}',
        '{"query": "x", "top_k": "many"}',
        '{"query": "x", "similarity_threshold": 2}',
    ],
)
async def test_bad_arguments_are_told_to_the_model(arguments: str) -> None:
    turn = make_turn(FakeRetriever([CHUNK]))
    assert set(json.loads(await retrieve_documentation(turn, arguments))) == {"error", "query"}
    assert not turn.must_stop


async def test_a_failure_is_kept_and_stops_the_run() -> None:
    turn = make_turn(FakeRetriever([], failure=IndexUnavailable("the index is down")))
    result = json.loads(await retrieve_documentation(turn, '{"query": "node"}'))
    assert result == {"error": "the index is down", "query": "node"}
    assert turn.must_stop
    assert isinstance(turn.failure, IndexUnavailable)


async def test_the_model_cannot_widen_what_the_caller_bound() -> None:
    retriever = FakeRetriever([CHUNK])
    filters = Filters(module="ros2")
    turn = make_turn(retriever, top_k=3, score_threshold=0.2, filters=filters)
    wide = {"query": "what else", "top_k": 20, "similarity_threshold": 0.0, "book_id": "other"}
    await retrieve_documentation(turn, json.dumps(wide))
    assert [call["query"] for call in retriever.calls] == ["What is a node?", "what else"]
    for call in retriever.calls:
        assert call["book_id"] == "book"
        assert call["top_k"] == 3
        assert call["score_threshold"] == 0.2
        assert call["filters"] == filters


async def test_the_same_question_is_searched_once_and_numbers_stay() -> None:
    retriever = FakeRetriever([CHUNK, make_chunk("Topics carry data.", source_file="b.md")])
    turn = make_turn(retriever)
    first = json.loads(await retrieve_documentation(turn, '{"query": "what is a node"}'))
    second = json.loads(await retrieve_documentation(turn, '{"query": "topics"}'))
    assert len(retriever.calls) == 2
    ranks = {r["chunk_text"]: r["rank"] for r in second["results"]}
    assert all(ranks[r["chunk_text"]] == r["rank"] for r in first["results"])
    assert sorted(ranks.values()) == [1, 2]


async def test_a_misspelt_question_is_told_and_read_as_it_was_meant() -> None:
    retriever = FakeRetriever([CHUNK], meant={"What is a noed?": "What is a node?"}, probability=1)
    question = Question(text="What is a noed?", book_id="book")
    turn = Turn(question=question, standalone=question.text, retriever=retriever)
    assert turn.asked == "What is a noed?"
    result = json.loads(await retrieve_documentation(turn, '{"query": "What is a noed?"}'))
    assert result["query"] == turn.asked == "What is a node?"
    other = json.loads(await retrieve_documentation(turn, '{"query": "process"}'))
    assert other["query"] == "process"


def test_the_schema_is_the_one_of_the_contract() -> None:
    assert PARAMETERS["required"] == ["query"]
    assert PARAMETERS["properties"]["top_k"]["default"] == 5
    assert PARAMETERS["properties"]["similarity_threshold"]["default"] == 0.0
