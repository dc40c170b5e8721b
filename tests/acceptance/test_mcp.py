"""The official MCP client talks to a book, over HTTP and over stdin and stdout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters

from tests.acceptance.conftest import QUIRE, Terminal

pytestmark = pytest.mark.timeout(300)

QUESTION = "How do ROS 2 nodes communicate?"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def test_the_tools_over_http(server: str) -> None:
    async with Client(f"{server}/mcp") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"search", "fetch", "search_docs", "ask"}
        for tool in tools.values():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.output_schema
        found = await called(client, "search", query=QUESTION)
        assert set(found["results"][0]) == {"id", "title", "url"}
        fetched = await called(client, "fetch", id=found["results"][0]["id"])
        assert set(fetched) == {"id", "title", "text", "url", "metadata"}
        assert fetched["url"] == found["results"][0]["url"]
        passages = await called(client, "search_docs", query=QUESTION, limit=3)
        assert len(passages["results"]) == 3
        answer = await called(client, "ask", question=QUESTION)
        assert answer["should_answer"]
        assert answer["sources"][0]["quote"]
        refused = await called(client, "ask", question="Who won the world cup in 1998?")
        assert not refused["should_answer"]


async def called(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def test_errors_are_one_line(server: str) -> None:
    async with Client(f"{server}/mcp") as client:
        for name, arguments in (
            ("fetch", {"id": "00000000-0000-4000-8000-000000000000"}),
            ("ask", {"question": "x", "book_id": "none"}),
            ("search", {"query": "x"}),
        ):
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert "Traceback" not in str(result.content)


async def test_pages_are_resources(server: str) -> None:
    async with Client(f"{server}/mcp") as client:
        pages = (await client.list_resources()).resources
        assert len(pages) > 5
        page = next(page for page in pages if "launch" in page.name.lower())
        content = (await client.read_resource(page.uri)).contents[0]
        assert "launch" in getattr(content, "text", "").lower()


@pytest.mark.parametrize(
    ("origin", "status"),
    [("https://evil.example", 403), ("http://localhost:3000", 200), (None, 200)],
)
def test_foreign_pages_are_kept_out(server: str, origin: str | None, status: int) -> None:
    headers = {"Accept": "application/json, text/event-stream"}
    if origin:
        headers["Origin"] = origin
    response = httpx.post(f"{server}/mcp", json=INITIALIZE, headers=headers)
    assert response.status_code == status, response.text


async def test_the_book_over_stdin_and_stdout(tmp_path: Path, model_cache: Path) -> None:
    book = tmp_path / "book"
    book.mkdir()
    (book / "index.md").write_text("# Rover\n\nThe rover is a small robot that maps caves.\n")
    terminal = Terminal(tmp_path / "home", model_cache)
    terminal("ingest", str(book))
    command = StdioServerParameters(command=QUIRE, args=["mcp"], env=terminal.environment)
    async with Client(command) as client:
        answer = await called(client, "ask", question="What does the rover map?")
        assert "caves" in answer["answer"]
