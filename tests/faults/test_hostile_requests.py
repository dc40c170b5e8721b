"""Bodies and clients that want to use the server up: huge, slow, deep, never ending."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.faults.clients import Served, post, read_reply, service
from tests.faults.scale import LONG, note, scale
from tests.service import QUESTION, write_book

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("load")]

LETTERS = str.maketrans("0123456789", "abcdefghij")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("hostile")
    with service(folder / "home", write_book(folder)) as running:
        yield running


async def test_a_huge_chunked_body_is_refused_at_the_limit(served: Served) -> None:
    before = await served.state()
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(
        b"POST /chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    piece = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    sent = 0
    answer = asyncio.create_task(read_reply(reader))
    with suppress(ConnectionError):
        while sent < 400_000_000 and not answer.done():
            writer.write(piece)
            await writer.drain()
            sent += 65536
    reply = await asyncio.wait_for(answer, 30)
    writer.close()
    after = await served.state()
    note("huge body", sent_mb=sent / 1e6, grown_mb=after["rss_mb"] - before["rss_mb"])
    assert reply.status == 413
    assert reply.json["error_code"] == "payload_too_large"
    assert after["rss_mb"] - before["rss_mb"] < 30


async def test_deep_json_is_an_error_of_the_caller(served: Served) -> None:
    for body in ("[" * 100_000, '{"query":' * 50_000):
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        data = body.encode()
        head = f"POST /chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(data)}\r\n"
        writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + data)
        reply = await asyncio.wait_for(read_reply(reader), 30)
        writer.close()
        assert (reply.status, reply.json["error_code"]) == (422, "validation_error"), reply.body


async def test_slow_clients_hold_no_slot_and_the_others_are_served(served: Served) -> None:
    before = await served.state()
    ends: list[asyncio.StreamWriter] = []
    for _ in range(scale(100, 500)):
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"POST /chat HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n{")
        ends.append(writer)
    await asyncio.sleep(0.5)
    began = time.monotonic()
    reply = await post(served.port, "/chat", {"query": QUESTION})
    took = time.monotonic() - began
    held = await served.state()
    for writer in ends:
        writer.transport.abort()
    assert reply.status == 200
    note(
        "slow clients", clients=len(ends), answer_s=took, grown_mb=held["rss_mb"] - before["rss_mb"]
    )
    assert took < (2 if LONG else 10)
    assert held["slots"] <= len(ends)


async def test_the_event_loop_does_not_stall_over_hostile_questions(served: Served) -> None:
    await post(served.port, "/chat", {"query": QUESTION})
    await served.state()  # what the first answer loads is behind us
    words = " ".join(f"qx{n:04}zzk".translate(LETTERS) for n in range(200))
    hostile = ["[" * 1000, "a" * 1900, "?" * 1900, "1 " * 900, "![](" * 450, "\u202e" * 900, words]
    hostile += [
        f"compare a{' ' * 1900}b?",
        "<a " * 600,
        f"jailbreak {'hi  ' * 400}",
        "how do " * 270,
    ]
    for text in hostile:
        for path in ("/chat", "/search"):
            body = {"query": text} if path == "/chat" else {"text": text}
            reply = await post(served.port, path, body)
            assert reply.status in (200, 422), reply.body
    state = await served.state()
    note("stall", stall_ms=state["stall_ms"], busy_ms=state["busy_ms"])
    assert state["busy_ms"] < (50 if LONG else 100)


async def test_the_event_loop_does_not_stall_over_hostile_selections(served: Served) -> None:
    await post(served.port, "/chat", {"query": QUESTION})
    await served.state()
    hostile = ["^" * 4900, ". " * 2400, "1. " * 1600, f"A node is {' ' * 4800}x.", "a@" * 2400]
    for text in hostile:
        body = {"query": "What is a node?", "mode": "selected_text", "selected_text": text}
        reply = await post(served.port, "/chat", body)
        assert reply.status == 200, reply.body
    state = await served.state()
    note("stall over selections", stall_ms=state["stall_ms"], busy_ms=state["busy_ms"])
    assert state["busy_ms"] < (50 if LONG else 100)
