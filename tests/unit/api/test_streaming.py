"""Streams: events, keepalive, errors, shutdown, clients that leave or don't read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import pytest
from starlette.types import Message

from quire.api import streaming
from quire.api.events import quire_error
from quire.api.streaming import AnswerStream
from quire.errors import ModelUnavailable, NotFound
from tests.service import QUESTION, Service

SCOPE: dict[str, Any] = {"type": "http"}


def events_of(text: str) -> list[dict[str, Any]]:
    """Each event with its fields; data parsed."""
    found: list[dict[str, Any]] = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        found.append({**fields, "data": json.loads(fields["data"])})
    return found


async def test_every_event_has_its_fields(service: Service) -> None:
    response = await service.client.post("/chat/stream", json={"query": QUESTION})
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    events = events_of(response.text)
    assert [event["id"] for event in events] == [str(n) for n in range(1, len(events) + 1)]
    assert all(event["event"] == event["data"]["type"] for event in events)
    assert {event["event"] for event in events[:-2]} == {"chunk"}
    assert isinstance(events[0]["data"]["content"], str)
    assert [event["event"] for event in events[-2:]] == ["sources", "done"]
    assert events[-2]["data"]["sources"][0]["section_heading"] == "Battery"
    assert {"query_time_ms", "chunks_retrieved", "model"} <= set(events[-1]["data"]["metadata"])


async def test_an_error_before_the_first_byte_has_its_own_status(service: Service) -> None:
    for path, body in (
        ("/chat/stream", {"query": QUESTION, "book_id": "none"}),
        ("/chat", {"query": QUESTION, "book_id": "none", "stream": True}),
        ("/chat/run", {"message": QUESTION, "book_id": "none", "stream": True}),
    ):
        response = await service.client.post(path, json=body)
        assert (response.status_code, response.json()["error_code"]) == (404, "not_found")
    wrong = {"query": QUESTION, "filters": {"colour": "red"}}
    assert (await service.client.post("/chat/stream", json=wrong)).status_code == 422


async def test_resuming_is_refused_honestly(service: Service) -> None:
    response = await service.client.post(
        "/chat/stream", json={"query": QUESTION}, headers={"Last-Event-ID": "2"}
    )
    assert (response.status_code, response.json()["error_code"]) == (409, "conflict")
    assert "ask again" in response.json()["message"]


@pytest.mark.parametrize("by_header", [True, False])
async def test_the_ai_sdk_stream(service: Service, by_header: bool) -> None:
    headers = {"Accept": "text/event-stream; format=ai-sdk"} if by_header else {}
    path = "/chat/stream" if by_header else "/chat/stream?format=ai-sdk"
    response = await service.client.post(path, json={"query": QUESTION}, headers=headers)
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    lines = [line.removeprefix("data: ") for line in response.text.split("\n") if line]
    assert lines[-1] == "[DONE]"
    parts = [json.loads(line) for line in lines[:-1]]
    kinds = [part["type"] for part in parts]
    assert kinds[:3] == ["start", "start-step", "text-start"]
    assert kinds[-2:] == ["finish-step", "finish"]
    assert kinds.index("text-end") < kinds.index("source-url") < kinds.index("data-citation")
    allowed = {
        "start": {"messageId"},
        "text-start": {"id"},
        "text-delta": {"id", "delta"},
        "text-end": {"id"},
        "source-url": {"sourceId", "url", "title"},
        "data-citation": {"id", "data"},
        "data-confidence": {"data"},
        "finish": {"finishReason"},
    }
    for part in parts:
        assert set(part) - {"type"} <= allowed.get(part["type"], set())
    whole = (await service.client.post("/chat", json={"query": QUESTION})).json()
    text = "".join(part["delta"] for part in parts if part["type"] == "text-delta")
    assert text == whole["answer"]


class Wire:
    """The two ends of an ASGI connection."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.gone = asyncio.Event()
        self.blocked = False

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if self.blocked:
            await asyncio.sleep(60)
        self.sent.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(m.get("body", b"") for m in self.sent)


def stream(pieces: AsyncGenerator[bytes], **options: Any) -> AnswerStream:
    options.setdefault("stopping", asyncio.Event())
    return AnswerStream(pieces, failed=quire_error, write_timeout=0.2, **options)


class Pieces:
    """Sends one piece, then waits; notes that it was closed."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.closed = False
        self.failure = failure

    async def __call__(self) -> AsyncGenerator[bytes]:
        try:
            yield b"data: 1\n\n"
            if self.failure:
                raise self.failure
            await asyncio.sleep(60)
        finally:
            self.closed = True


async def test_a_silent_stream_is_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "KEEPALIVE_S", 0.02)
    wire, pieces = Wire(), Pieces()
    task = asyncio.create_task(stream(pieces())(SCOPE, wire.receive, wire.send))
    await asyncio.sleep(0.2)
    assert wire.body.count(b": keepalive\n\n") >= 3
    wire.gone.set()
    await asyncio.wait_for(task, 2)


async def test_a_slow_start_is_kept_alive_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "PATIENCE_S", 0.02)

    async def pieces() -> AsyncGenerator[bytes]:
        await asyncio.sleep(0.1)
        yield b"data: 1\n\n"

    wire = Wire()
    await stream(pieces())(SCOPE, wire.receive, wire.send)
    assert wire.body == b": keepalive\n\ndata: 1\n\n"
    assert wire.sent[0]["status"] == 200
    assert wire.sent[-1]["more_body"] is False


async def test_a_client_that_leaves_ends_the_work() -> None:
    wire, pieces = Wire(), Pieces()
    task = asyncio.create_task(stream(pieces())(SCOPE, wire.receive, wire.send))
    await asyncio.sleep(0.05)
    wire.gone.set()
    await asyncio.wait_for(task, 2)
    assert pieces.closed


async def test_a_client_that_does_not_read_is_cut() -> None:
    wire, pieces = Wire(), Pieces()
    wire.blocked = True
    await asyncio.wait_for(stream(pieces())(SCOPE, wire.receive, wire.send), 2)
    assert pieces.closed


async def test_an_error_after_the_first_byte_is_the_last_event() -> None:
    wire, pieces = Wire(), Pieces(ModelUnavailable("no answer"))
    await stream(pieces())(SCOPE, wire.receive, wire.send)
    event = events_of(wire.body.decode().partition("\n\n")[2])[0]
    assert event["event"] == "error"
    assert event["data"]["error_code"] == "model_unavailable"
    assert event["data"]["retryable"] is True
    assert wire.sent[-1]["more_body"] is False


async def test_shutdown_ends_streams_with_an_event_that_says_so() -> None:
    wire, pieces, stopping = Wire(), Pieces(), asyncio.Event()
    answer = stream(pieces(), stopping=stopping)
    task = asyncio.create_task(answer(SCOPE, wire.receive, wire.send))
    await asyncio.sleep(0.05)
    stopping.set()
    await asyncio.wait_for(task, 2)
    event = events_of(wire.body.decode().partition("\n\n")[2])[0]["data"]
    assert (event["type"], event["error_code"], event["retryable"]) == (
        "error",
        "shutting_down",
        True,
    )
    assert pieces.closed


async def test_a_cut_answer_is_not_stored_as_complete(service: Service) -> None:
    service.app.state.stopping.set()
    session = "550e8400-e29b-41d4-a716-446655440000"
    body = {"query": QUESTION, "session_id": session}
    response = await service.client.post("/chat/stream", json=body)
    assert (response.status_code, response.json()["error_code"]) == (503, "shutting_down")
    with suppress(NotFound):
        stored = await service.library.conversations.exchanges("local", session)
        assert all(exchange.status == "aborted" for exchange in stored)


async def test_slots_are_free_again_after_everything(service: Service) -> None:
    await service.client.post("/chat", json={"query": QUESTION})
    await service.client.post("/chat/stream", json={"query": QUESTION})
    await service.client.post("/chat/stream", json={"query": QUESTION, "book_id": "none"})
    assert service.app.state.slots.taken == 0


async def test_what_nobody_foresaw_ends_a_stream_with_an_event() -> None:
    wire, pieces = Wire(), Pieces(ZeroDivisionError("words of a reader"))
    await stream(pieces())(SCOPE, wire.receive, wire.send)
    assert pieces.closed
    assert b"event: error" in wire.body
    assert b"internal_error" in wire.body
    assert b"reader" not in wire.body
    assert wire.sent[-1]["more_body"] is False
