"""`quire index copy` between the data folder and a server, as an operator runs it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from quire.index.edge import EdgeIndex
from quire.index.port import Index, Point
from quire.index.server import ServerIndex
from tests.contract.index_suite import EMBEDDER, make_point
from tests.integration.service.processes import (
    QUIRE,
    clean_environment,
    free_port,
    process,
    wait_for,
)


@pytest.fixture
async def address() -> AsyncGenerator[str]:
    """A server that speaks Qdrant's REST routes."""
    port = free_port()
    module = (sys.executable, "-m", "tests.integration.service.qdrant", str(port))
    with process(*module, environment=clean_environment()) as qdrant:
        await asyncio.to_thread(wait_for, f"http://127.0.0.1:{port}/collections", qdrant)
        yield f"http://127.0.0.1:{port}"


async def _copy(home: Path, address: str | None, *flags: str, code: int = 0) -> Any:
    environment = clean_environment(QUIRE_HOME=str(home))
    if address:
        environment["QDRANT_URL"] = address
    done = await asyncio.to_thread(
        subprocess.run,
        [QUIRE, "index", "copy", "--json", *flags],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


async def _fill(home: Path) -> None:
    index = await EdgeIndex.open(home / "index")
    await index.prepare(EMBEDDER)
    await index.upsert([make_point(number) for number in range(300)])
    await index.upsert([make_point(number, book="ships") for number in range(5)])
    await index.commit()
    await index.close()


async def _points(index: Index, book_id: str) -> list[Point]:
    found: list[Point] = []
    cursor: str | None = None
    while True:
        chunks, cursor = await index.scroll(book_id, after=cursor)
        found += await index.fetch_points(book_id, [chunk.id for chunk in chunks])
        if cursor is None:
            return sorted(found, key=lambda point: point.chunk.id)


def _check_equal(ours: list[Point], theirs: list[Point]) -> None:
    assert [point.chunk for point in ours] == [point.chunk for point in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert one.dense == pytest.approx(other.dense, abs=1e-6)
        terms = dict(zip(one.bm25.indices, one.bm25.values, strict=True))
        assert terms == pytest.approx(dict(zip(other.bm25.indices, other.bm25.values, strict=True)))


async def test_books_arrive_whole_and_a_second_copy_removes_what_is_gone(
    tmp_path: Path, address: str
) -> None:
    await _fill(tmp_path)
    assert (await _copy(tmp_path, address))["books"] == {"robots": 300, "ships": 5}
    embedded = await EdgeIndex.open(tmp_path / "index")
    server = ServerIndex.open(address)
    for book in ("robots", "ships"):
        _check_equal(await _points(server, book), await _points(embedded, book))
    await embedded.delete("robots", [make_point(7).chunk.id])
    await embedded.close()
    assert (await _copy(tmp_path, address, "-b", "robots"))["books"] == {"robots": 299}
    assert (await server.count("robots"), await server.count("ships")) == (299, 5)
    await server.close()


async def test_the_way_back_and_what_is_refused(tmp_path: Path, address: str) -> None:
    full, empty = tmp_path / "full", tmp_path / "empty"
    await _fill(full)
    await _copy(full, address, "-b", "ships")
    assert (await _copy(empty, address, "--from-server"))["books"] == {"ships": 5}
    unknown = await _copy(full, address, "-b", "planes", code=2)
    assert "planes" in str(unknown)
    nowhere = await _copy(full, None, code=1)
    assert "QDRANT_URL" in str(nowhere)
