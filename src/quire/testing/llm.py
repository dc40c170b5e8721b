"""A stub of an OpenAI-compatible server: chat completions, streaming, tools and bad manners."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

Request = dict[str, Any]
"""The body of a chat completion request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StubReply:
    """What the server sends for one request."""

    text: str = ""
    tool_calls: tuple[tuple[str, str], ...] = ()
    """Name and JSON arguments of each call."""
    status: int = 200
    body: bytes | None = None
    """Sent as it is instead of a completion."""
    delay: float = 0.0
    """Seconds before the first byte, and between the pieces of a stream."""
    cut: bool = False
    """Break the connection in the middle of a stream."""


def calls_tool(query: str, **arguments: Any) -> StubReply:
    """A reply that calls `retrieve_documentation`."""
    body = json.dumps({"query": query, **arguments})
    return StubReply(tool_calls=(("retrieve_documentation", body),))


def last_question(request: Request) -> str:
    """The last thing the user said."""
    texts = [m["content"] for m in request["messages"] if m["role"] == "user"]
    return str(texts[-1]) if texts else ""


def has_passages(request: Request) -> bool:
    """Whether the request carries what was retrieved, as a tool result or in a message."""
    return any(
        message["role"] == "tool" or "<<<PASSAGES" in str(message.get("content") or "")
        for message in request["messages"]
        if message["role"] != "system"
    )


def well_behaved(draft: str) -> Callable[[Request], StubReply]:
    """Calls the tool first, then replies with the draft."""

    def reply(request: Request) -> StubReply:
        if not has_passages(request):
            return calls_tool(last_question(request))
        return StubReply(text=draft)

    return reply


@dataclass
class StubServer:
    """Listens on a loopback port; `reply` decides, `requests` remembers."""

    reply: Callable[[Request], StubReply]
    requests: list[Request] = field(default_factory=list[Request])
    paths: list[str] = field(default_factory=list[str])
    open_streams: int = 0
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever the last open stream has ended."""
    port: int = 0

    @property
    def base_url(self) -> str:
        """What a client is configured with."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request on a kept-alive connection; False when it ends."""
        head = await reader.readline()
        if not head:
            return False
        length = 0
        while (line := await reader.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            if name.lower() == "content-length":
                length = int(value)
        path = head.split()[1].decode()
        body = await reader.readexactly(length)
        request = cast("Request", json.loads(body or b"{}"))
        self.paths.append(path)
        self.requests.append(request)
        reply = self.reply(request) if path.endswith("/chat/completions") else _NOT_FOUND
        if reply.delay:
            await asyncio.sleep(reply.delay)
        if reply.status != 200 or reply.body is not None:
            await _send(writer, reply.status, reply.body or _error(reply.status))
        elif request.get("stream"):
            self.open_streams += 1
            self.idle.clear()
            try:
                await _stream(writer, reply)
            finally:
                self.open_streams -= 1
                if not self.open_streams:
                    self.idle.set()
            return False
        else:
            await _send(writer, 200, json.dumps(_completion(reply)).encode())
        return True


_NOT_FOUND = StubReply(status=404)


@asynccontextmanager
async def serve(reply: Callable[[Request], StubReply]) -> AsyncGenerator[StubServer]:
    """A running stub server; every connection is closed at the end."""
    stub = StubServer(reply)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(stub._serve(reader, writer))  # pyright: ignore[reportPrivateUsage]
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    stub.port = server.sockets[0].getsockname()[1]
    try:
        yield stub
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _send(writer: asyncio.StreamWriter, status: int, body: bytes) -> None:
    writer.write(
        f"HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter, reply: StubReply) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    chunks = list(_chunks(reply))
    for i, chunk in enumerate(chunks):
        if reply.cut and i == len(chunks) // 2:
            return
        writer.write(f"data: {json.dumps(chunk)}\n\n".encode())
        await writer.drain()
        if reply.delay:
            await asyncio.sleep(reply.delay)
    writer.write(b"data: [DONE]\n\n")
    await writer.drain()


def _error(status: int) -> bytes:
    return json.dumps(
        {"error": {"message": f"stub {status}", "type": "stub", "param": None, "code": None}}
    ).encode()


_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def _calls(reply: StubReply) -> list[dict[str, Any]]:
    return [
        {
            "index": i,
            "id": f"call_{i}_{abs(hash((name, arguments))) % 10**8}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for i, (name, arguments) in enumerate(reply.tool_calls)
    ]


def _completion(reply: StubReply) -> dict[str, Any]:
    calls = [{k: v for k, v in call.items() if k != "index"} for call in _calls(reply)]
    message = {"role": "assistant", "content": reply.text or None, "tool_calls": calls or None}
    return {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": _USAGE,
    }


def _chunks(reply: StubReply) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"tool_calls": [call]} for call in _calls(reply)]
    deltas += [{"content": reply.text[i : i + 24]} for i in range(0, len(reply.text), 24)]
    base = {"id": "stub", "object": "chat.completion.chunk", "created": 0, "model": "stub"}
    chunks: list[dict[str, Any]] = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    reason = "tool_calls" if reply.tool_calls else "stop"
    chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    chunks.append({**base, "choices": [], "usage": _USAGE})
    return chunks
