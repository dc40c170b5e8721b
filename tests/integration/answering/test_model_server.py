"""The agent against an OpenAI-compatible server, well-behaved and not, streaming and not."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from quire.answering import AnswerDone, Answerer, Limits, Question, SentenceReady
from quire.errors import ModelBehaviourError, ModelUnavailable, QuireError
from quire.llm import build_model
from quire.models import Answer, Message
from quire.testing.answering import FakeRetriever, draft_json, make_chunk
from quire.testing.llm import (
    Request,
    StubReply,
    StubServer,
    calls_tool,
    has_passages,
    serve,
    well_behaved,
)

CHUNK = make_chunk(
    "## Nodes\n\nA node is a process that performs computation. Nodes exchange messages over "
    "topics at 50 Hz. Topics are not encrypted by default.\n"
)
GOOD = draft_json(
    ("A node is a process that performs computation.", [1]),
    ("Nodes exchange messages over topics at 50 Hz.", [1]),
)
PROVEN = (
    "A node is a process that performs computation. [1] "
    "Nodes exchange messages over topics at 50 Hz. [2]"
)
ASK = Question(text="What is a node?", book_id="book", book_title="Robots")

Ask = Callable[[Answerer, Question], "asyncio.Future[Answer]"]


async def whole(answerer: Answerer, question: Question) -> Answer:
    return await answerer.answer(question)


async def streamed(answerer: Answerer, question: Question) -> Answer:
    events = [event async for event in answerer.stream(question)]
    done = events[-1]
    assert isinstance(done, AnswerDone)
    assert "".join(e.text for e in events if isinstance(e, SentenceReady)) == done.answer.text
    return done.answer


@asynccontextmanager
async def answering(
    reply: Callable[[Request], StubReply], **options: object
) -> AsyncGenerator[tuple[Answerer, StubServer]]:
    async with serve(reply) as server:
        settings = {"timeout": 30.0, "max_retries": 0, **options}
        model = build_model("stub", base_url=server.base_url, **settings)  # type: ignore[arg-type]
        try:
            retriever = FakeRetriever([CHUNK])
            yield Answerer(retriever=retriever, model=model, model_name="stub"), server
        finally:
            await model.close()


both = pytest.mark.parametrize("ask", [whole, streamed])


@both
async def test_a_good_model_calls_the_tool_and_its_sentences_are_proven(ask: Ask) -> None:
    async with answering(well_behaved(GOOD)) as (answerer, server):
        answer = await ask(answerer, ASK)
    assert answer.text == PROVEN
    assert answer.tokens_used == 240
    assert answer.model == "stub"
    first, second = server.requests
    assert first["tool_choice"] == "required"
    assert first["temperature"] == 0
    assert first["tools"][0]["function"]["name"] == "retrieve_documentation"
    assert "tool_choice" not in second or second["tool_choice"] in (None, "auto")


async def test_what_the_book_doesnt_answer_is_not_a_models_to_say() -> None:
    claims = GOOD[:-1] + ', "unanswered": [2]}'
    question = Question(text="What is a node and how do nodes exchange messages?", book_id="book")
    async with answering(well_behaved(claims)) as (answerer, _):
        answer = await whole(answerer, question)
    assert answer.text == PROVEN


@both
async def test_passages_are_fenced_by_markers_that_change(ask: Ask) -> None:
    markers: set[str] = set()
    async with answering(well_behaved(GOOD)) as (answerer, server):
        for _ in range(2):
            await ask(answerer, ASK)
            output = next(
                m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"
            )
            begin, *_, end = [line for line in output.splitlines() if "PASSAGES" in line]
            assert begin.startswith("<<<PASSAGES ")
            assert begin.split()[1] in end
            markers.add(begin)
    assert len(markers) == 2


@both
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(lambda _: StubReply(text=GOOD), PROVEN, id="ignores tools"),
        pytest.param(
            lambda _: StubReply(
                text="A node is a process that performs computation [1]. Bob made it."
            ),
            "A node is a process that performs computation. [1]",
            id="prose",
        ),
        pytest.param(
            well_behaved(GOOD[:-40]),
            "A node is a process that performs computation. [1]",
            id="cut JSON",
        ),
        pytest.param(well_behaved(f"```json\n{GOOD}\n```"), PROVEN, id="fenced JSON"),
        pytest.param(
            lambda r: StubReply(text=GOOD) if "tools" not in r else calls_tool("again"),
            PROVEN,
            id="loops on the tool",
        ),
        pytest.param(
            lambda r: (
                StubReply(text=GOOD)
                if "tools" not in r
                else StubReply(tool_calls=(("delete_book", "{}"),))
            ),
            PROVEN,
            id="calls a tool that does not exist",
        ),
        pytest.param(
            lambda r: StubReply(text=GOOD) if "tools" not in r else StubReply(status=400),
            PROVEN,
            id="rejects tools",
        ),
        pytest.param(
            lambda r: StubReply(text=GOOD) if "tools" not in r else StubReply(text=""),
            PROVEN,
            id="says nothing at first",
        ),
    ],
)
async def test_bad_manners_still_end_in_an_answer(
    reply: Callable[[Request], StubReply], expected: str, ask: Ask
) -> None:
    async with answering(reply) as (answerer, _):
        assert (await ask(answerer, ASK)).text == expected


@both
async def test_unproven_sentences_are_dropped_and_nothing_left_is_the_refusal(ask: Ask) -> None:
    lies = draft_json(
        ("Nodes exchange messages over topics at 60 Hz.", [1]),
        ("Topics are encrypted by default.", [1]),
        ("The weather is nice in Paris.", [9]),
    )
    async with answering(well_behaved(lies)) as (answerer, _):
        answer = await ask(answerer, ASK)
    assert answer.refusal_reason == "unsupported_draft"
    assert not answer.should_answer
    assert answer.citations == ()
    async with answering(well_behaved('{"segments": []}')) as (answerer, _):
        assert (await ask(answerer, ASK)).refusal_reason == "unsupported_draft"


@both
async def test_the_refusal_stops_at_the_tool(ask: Ask) -> None:
    async with answering(well_behaved(GOOD)) as (answerer, server):
        answer = await ask(answerer, Question(text="Who won the cup final?", book_id="book"))
    assert not answer.should_answer
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (StubReply(status=500), ModelUnavailable),
        (StubReply(status=429), ModelUnavailable),
        (StubReply(status=401), ModelUnavailable),
        (StubReply(status=404), ModelUnavailable),
        (StubReply(status=400), ModelBehaviourError),
        (StubReply(delay=5.0), ModelUnavailable),
        (StubReply(text=""), ModelBehaviourError),
        (StubReply(body=b"<html>"), ModelBehaviourError),
        (StubReply(body=b"{}"), ModelBehaviourError),
        (StubReply(body=b'{"choices": null}'), ModelBehaviourError),
        (StubReply(body=b'{"choices": [{"message": null}]}'), ModelBehaviourError),
        (StubReply(body=b'{"choices": [{"message": 7}]}'), ModelBehaviourError),
    ],
)
async def test_a_broken_server_is_a_typed_error(
    reply: StubReply, error: type[QuireError], ask: Ask
) -> None:
    async with answering(lambda _: reply, timeout=0.5 if reply.delay else 30.0) as (answerer, _):
        with pytest.raises(error):
            await ask(answerer, ASK)


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    model = build_model("stub", base_url="http://127.0.0.1:9/v1", max_retries=0)
    answerer = Answerer(retriever=FakeRetriever([CHUNK]), model=model, model_name="stub")
    with pytest.raises(ModelUnavailable):
        await answerer.answer(ASK)
    await model.close()


async def test_passing_failures_are_retried() -> None:
    replies = iter([StubReply(status=500), calls_tool("node"), StubReply(text=GOOD)])
    async with answering(lambda _: next(replies), max_retries=1) as (answerer, _):
        assert (await answerer.answer(ASK)).text == PROVEN


async def test_a_server_that_refuses_temperature_is_asked_without() -> None:
    def reply(request: Request) -> StubReply:
        if "temperature" in request:
            body = {"error": {"message": "temperature is not supported", "type": "x"}}
            return StubReply(status=400, body=json.dumps(body).encode())
        return well_behaved(GOOD)(request)

    async with answering(reply) as (answerer, server):
        assert (await answerer.answer(ASK)).text == PROVEN
        assert (await answerer.answer(ASK)).text == PROVEN
    assert sum("temperature" in request for request in server.requests) == 1


async def test_a_sentence_is_sent_before_the_model_has_finished() -> None:
    seen: list[int] = []
    reply = StubReply(text=GOOD, delay=0.05)
    async with answering(
        lambda r: reply if has_passages(r) else calls_tool("node"), timeout=10.0
    ) as (answerer, server):
        async for event in answerer.stream(ASK):
            if isinstance(event, SentenceReady):
                seen.append(server.open_streams)
    assert seen[0] == 1


async def test_leaving_closes_the_connection_to_the_model() -> None:
    endless = StubReply(text=GOOD + " " * 24 * 2000, delay=0.05)
    async with answering(
        lambda r: endless if has_passages(r) else calls_tool("node"), timeout=60.0
    ) as (answerer, server):
        stream = answerer.stream(ASK)
        await anext(stream)
        assert server.open_streams == 1
        await stream.aclose()
        await asyncio.wait_for(server.idle.wait(), 5)
        assert server.open_streams == 0


async def test_a_slow_model_meets_the_deadline_of_the_turn() -> None:
    async with serve(lambda _: StubReply(delay=30.0)) as server:
        model = build_model("stub", base_url=server.base_url, timeout=60.0, max_retries=0)
        answerer = Answerer(
            retriever=FakeRetriever([CHUNK]),
            model=model,
            model_name="stub",
            limits=Limits(turn_seconds=0.3),
        )
        with pytest.raises(ModelUnavailable):
            await answerer.answer(ASK)
        with pytest.raises(ModelUnavailable):
            _ = [event async for event in answerer.stream(ASK)]
        await model.close()


async def test_earlier_turns_reach_the_model_without_their_marks() -> None:
    history = [
        Message(role="user", content="Hello"),
        Message(role="assistant", content="Nodes compute. [1]"),
    ]
    async with answering(well_behaved(GOOD)) as (answerer, server):
        await answerer.answer(ASK, history)
    roles = [(m["role"], m["content"]) for m in server.requests[0]["messages"][1:]]
    assert roles == [("user", "Hello"), ("assistant", "Nodes compute."), ("user", ASK.text)]


async def test_no_key_and_no_question_is_in_an_error() -> None:
    async with answering(lambda _: StubReply(status=401), api_key="sk-secret") as (answerer, _):
        with pytest.raises(ModelUnavailable) as caught:
            await answerer.answer(ASK)
    assert "sk-secret" not in str(caught.value)
    assert ASK.text not in str(caught.value)
