"""What every model must do under the answerer: our extractive one, and a served one."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from quire.answering import AnswerDone, Answerer, ExtractiveModel, Question, SentenceReady
from quire.llm import build_model
from quire.testing.answering import FakeRetriever, WordEmbedder, draft_json, make_chunk
from quire.testing.llm import serve, well_behaved

SOURCE = "# Robots\n\nIntro.\n\nA gripper holds objects. It opens 80 mm wide.\n"
CHUNK = make_chunk("A gripper holds objects. It opens 80 mm wide.", source=SOURCE)
ASK = Question(text="What does a gripper hold?", book_id="book", session_id="s", trace_id="t")


@pytest.fixture(params=["extractive", "served"])
async def model(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    if request.param == "extractive":
        yield ExtractiveModel(embedder=WordEmbedder())
        return
    async with serve(well_behaved(draft_json(("A gripper holds objects.", [1])))) as server:
        served = build_model("stub", base_url=server.base_url, max_retries=0)
        yield served
        await served.close()


def make_answerer(model: Any, retriever: FakeRetriever) -> Answerer:
    return Answerer(retriever=retriever, model=model, model_name="m", embedder=WordEmbedder())


async def test_the_answer_is_proven_and_complete(model: Any) -> None:
    retriever = FakeRetriever([CHUNK])
    answer = await make_answerer(model, retriever).answer(ASK)
    assert answer.text.startswith("A gripper holds objects. [1]")
    for citation in answer.citations:
        assert SOURCE[citation.char_start : citation.char_end] == citation.quote
        assert citation.line_start == citation.line_end == 5
    assert [s.citations for s in answer.sentences] == [(c.number,) for c in answer.citations]
    assert (answer.session_id, answer.trace_id, answer.model) == ("s", "t", "m")
    assert [call["query"] for call in retriever.calls] == [ASK.text]


async def test_the_stream_is_the_same_answer(model: Any) -> None:
    answerer = make_answerer(model, FakeRetriever([CHUNK]))
    events = [event async for event in answerer.stream(ASK)]
    whole = await answerer.answer(ASK)
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert done.answer.text == whole.text
    assert done.answer.citations == whole.citations
    assert "".join(e.text for e in events if isinstance(e, SentenceReady)) == whole.text


async def test_the_refusal_is_decided_in_code(model: Any) -> None:
    retriever = FakeRetriever([CHUNK], probability=0.1)
    for question in (ASK, replace(ASK, text="What does a gripper hold, according to you?")):
        answer = await make_answerer(model, retriever).answer(question)
        assert not answer.should_answer
        assert answer.citations == ()


async def test_another_books_passage_is_never_cited(model: Any) -> None:
    foreign = make_chunk(CHUNK.text, book_id="other", source_file="secret.md")
    answer = await make_answerer(model, FakeRetriever([foreign])).answer(ASK)
    assert answer.refusal_reason == "no_passages"
    assert "secret" not in repr(answer)
