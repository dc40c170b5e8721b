"""What only the server index promises: a server that fails, and one that comes back."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from quire.errors import ConfigurationError, IndexUnavailable
from quire.index.port import EmbedderInfo
from quire.index.server import ServerIndex
from tests.contract.index_suite import vector

Answer = Callable[[str], tuple[int, object] | None]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def server(
    answer: Answer, port: int = 0, bodies: list[Any] | None = None
) -> AsyncGenerator[tuple[int, list[str]]]:
    """Answers `METHOD /path` with a status and JSON; None = never. Yields port and requests.

    What was sent as JSON is added to `bodies`.
    """
    requests: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            line = " ".join(head.split(" ", 2)[:2])
            requests.append(line)
            length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
            if length and bodies is not None:
                bodies.append(json.loads(await reader.readexactly(int(length[1]))))
            reply = answer(line)
            if reply is None:
                await asyncio.sleep(30)
                return
            body = json.dumps(reply[1]).encode()
            writer.write(
                b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\nconnection: close\r\n"
                b"content-length: %d\r\n\r\n%s" % (reply[0], len(body), body)
            )
            await writer.drain()
        except asyncio.CancelledError:
            return
        finally:
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        yield listener.sockets[0].getsockname()[1], requests
    finally:
        listener.close()


def collection(line: str) -> tuple[int, object]:
    """A server with the collection `quire@1` and nothing in it."""
    if line.endswith("/aliases"):
        return 200, ok({"aliases": [{"alias_name": "quire", "collection_name": "quire@1"}]})
    if line.endswith("/count"):
        return 200, ok({"count": 7})
    stored = {"quire": {"embedder": "toy", "dimension": 8, "schema": 1}}
    params = {"vectors": {"dense": {"size": 8, "distance": "Cosine"}}}
    hnsw = {"m": 0, "ef_construct": 100, "full_scan_threshold": 10000}
    optimizer = {"deleted_threshold": 0.2, "vacuum_min_vector_number": 1000}
    optimizer |= {"default_segment_number": 0, "flush_interval_sec": 5}
    config = {
        "params": params,
        "hnsw_config": hnsw,
        "optimizer_config": optimizer,
        "metadata": stored,
    }
    return 200, ok(
        {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "config": config,
            "payload_schema": {},
        }
    )


def ok(result: object) -> object:
    return {"result": result, "status": "ok", "time": 0.0}


def at(port: int, **settings: float) -> ServerIndex:
    return ServerIndex.open(f"http://127.0.0.1:{port}", **{"timeout": 1.0, **settings})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("by_grpc", [False, True])
async def test_a_closed_port_is_index_unavailable_within_the_deadline(by_grpc: bool) -> None:
    index = ServerIndex.open(
        f"http://127.0.0.1:{free_port()}", timeout=1.0, grpc_port=free_port() if by_grpc else None
    )
    started = time.monotonic()
    with pytest.raises(IndexUnavailable, match="Qdrant did not"):
        await index.search("robots", dense=vector(1), bm25=None, limit=3)
    assert time.monotonic() - started < 1.5
    await index.close()


async def test_a_server_that_never_answers_is_cut_at_the_deadline() -> None:
    async with server(lambda _: None) as (port, _):
        index = at(port, timeout=0.3)
        started = time.monotonic()
        with pytest.raises(IndexUnavailable, match=r"within 0\.3 s"):
            await index.count("robots")
        assert time.monotonic() - started < 1
        await index.close()


async def test_it_recovers_without_restart_when_the_server_comes_back() -> None:
    port = free_port()
    index = at(port)
    with pytest.raises(IndexUnavailable):
        await index.count("robots")
    async with server(collection, port):
        assert await index.count("robots") == 7
    with pytest.raises(IndexUnavailable):
        await index.count("robots")
    await index.close()


async def test_a_server_that_is_gone_gives_no_sign_of_life() -> None:
    async with server(collection) as (port, _):
        index = at(port)
        assert await index.count("robots") == 7
        await index.ping()
    with pytest.raises(IndexUnavailable):
        await index.ping()
    await index.close()


async def test_a_passing_failure_is_tried_again() -> None:
    failures = iter([503, 500])

    def answer(line: str) -> tuple[int, object]:
        if line.endswith("/count") and (status := next(failures, None)):
            return status, {"status": {"error": "busy"}}
        return collection(line)

    async with server(answer) as (port, requests):
        index = at(port, timeout=3.0)
        assert await index.count("robots") == 7
        assert sum(line.endswith("/count") for line in requests) == 3
        await index.close()


async def test_bad_json_is_index_unavailable() -> None:
    async with server(lambda _: (200, "nonsense")) as (port, _):
        index = at(port, timeout=3.0)
        with pytest.raises(IndexUnavailable):
            await index.count("robots")
        await index.close()


async def test_a_refused_key_names_the_setting_and_is_not_tried_again() -> None:
    async with server(lambda _: (403, {"status": {"error": "forbidden"}})) as (port, requests):
        index = at(port)
        with pytest.raises(ConfigurationError, match="QDRANT_API_KEY"):
            await index.count("robots")
        assert len(requests) == 1
        await index.close()


async def test_a_dropped_collection_makes_it_look_the_alias_up_again() -> None:
    gone = iter([404])

    def answer(line: str) -> tuple[int, object]:
        if line.endswith("/count") and (status := next(gone, None)):
            return status, {"status": {"error": "Not found: Collection `quire@1`"}}
        return collection(line)

    async with server(answer) as (port, requests):
        index = at(port)
        assert await index.count("robots") == 7
        assert sum(line.endswith("/aliases") for line in requests) == 2
        await index.close()


async def test_a_foreign_collection_is_not_taken_for_ours() -> None:
    def answer(line: str) -> tuple[int, object]:
        status, body = collection(line)
        return status, json.loads(json.dumps(body).replace('"quire": {', '"theirs": {'))

    async with server(answer) as (port, _):
        index = at(port)
        with pytest.raises(ConfigurationError, match="QDRANT_COLLECTION_NAME"):
            await index.prepare(EmbedderInfo("toy", 8))
        await index.close()


def test_a_bad_address_names_the_setting() -> None:
    with pytest.raises(ConfigurationError, match="QDRANT_URL"):
        ServerIndex.open("ftp://example.invalid")


async def test_a_new_collection_has_the_shards_replicas_and_tenant_index_asked_for() -> None:
    def answer(line: str) -> tuple[int, object]:
        if line.startswith("PUT"):
            done = {"operation_id": 1, "status": "completed"}
            return 200, ok(done if line.endswith("/index?wait=true") else True)
        return 200, ok({"collections": []})

    bodies: list[Any] = []
    async with server(answer, bodies=bodies) as (port, _):
        index = at(port, shard_number=3, replication_factor=2)
        await index.begin_rebuild(EmbedderInfo("toy", 8))
        await index.close()
    created = next(body for body in bodies if "vectors" in body)
    assert (created["shard_number"], created["replication_factor"]) == (3, 2)
    assert (created["hnsw_config"]["m"], created["hnsw_config"]["payload_m"]) == (0, 16)
    fields = {body["field_name"]: body["field_schema"] for body in bodies if "field_name" in body}
    assert [name for name, schema in fields.items() if schema.get("is_tenant")] == ["book_id"]
