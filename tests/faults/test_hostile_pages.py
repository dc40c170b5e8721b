"""Generated pathological pages: each is split in time, and the server goes on meanwhile."""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from pathlib import Path

import httpx
import pytest

from quire.errors import PageRejected
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.pages import Page, read_page
from quire.ingestion.splitting import chunk_page
from tests.faults.clients import post, service
from tests.faults.scale import LONG, SEED, note, scale
from tests.service import QUESTION, write_book
from tests.unit.ingestion.test_hostile_pages import ATOMS, BOOK, SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200 if LONG else 120)]

LARGEST = 1_000_000
BUDGET_S = 1800 if LONG else 8
STALL_MS = 50
"""By how much the loop may be late; by the clock it is asked for in the long run only."""


def hostile_page(rng: random.Random, largest: int = LARGEST) -> tuple[str, str]:
    """A name and a text: a few atoms again and again, up to the largest size."""
    size = int(math.exp(rng.uniform(math.log(1_000), math.log(largest))))
    unit = "".join(rng.choices(ATOMS, k=rng.randint(1, 5)))
    if rng.random() < 0.3:
        unit += "\n" * rng.randint(1, 2)
    text = (unit * (size // len(unit) + 1))[:size]
    return rng.choice(["a.md", "a.mdx", "a.rst", "a.txt"]), text


def test_generated_pathological_pages_stay_within_two_seconds() -> None:
    rng = random.Random(SEED)
    count, end = scale(30, 10_000), time.monotonic() + BUDGET_S
    slowest, done = 0.0, 0
    while done < count and time.monotonic() < end:
        file, text = hostile_page(rng, LARGEST if LONG else 200_000)
        begin = time.thread_time()
        try:
            page = read_page(BOOK, file, text.encode())
            if isinstance(page, Page):
                chunk_page(BOOK, page, max_tokens=256, count_tokens=estimate, identity=LessonKeys())
        except PageRejected:
            pass
        took = time.thread_time() - begin
        slowest = max(slowest, took)
        done += 1
        assert took < SECONDS, (done, file, len(text), text[:40], took)
    note("hostile pages", pages=done, of=count, slowest_s=slowest)
    assert done >= 20


async def test_the_server_answers_while_hostile_pages_are_ingested(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    folder = tmp_path / "hostile"
    folder.mkdir()
    for number in range(scale(6, 60)):
        file, text = hostile_page(rng, 100_000 if not LONG else LARGEST)
        (folder / f"page-{number}{Path(file).suffix}").write_bytes(text.encode())
    settings = {"QUIRE_INGEST_ROOTS": json.dumps([str(tmp_path)]), "FAULTS_REAL_INDEX": "1"}
    with service(tmp_path / "home", write_book(tmp_path), **settings) as served:
        async with httpx.AsyncClient(base_url=served.address, timeout=60) as client:
            await post(served.port, "/chat", {"query": QUESTION, "book_id": "rover"})
            await served.state()  # what the first answer loads is behind us
            made = await client.post("/ingestion/jobs", json={"path": str(folder)})
            assert made.status_code == 202, made.text
            slowest = 0.0
            while True:
                began = time.monotonic()
                reply = await post(served.port, "/chat", {"query": QUESTION, "book_id": "rover"})
                slowest = max(slowest, time.monotonic() - began)
                assert reply.status == 200
                job = (await client.get(made.headers["location"])).json()
                if job["status"] not in ("queued", "running"):
                    break
                await asyncio.sleep(0.05)
            state = await served.state()
    note(
        "hostile ingest",
        stall_ms=state["stall_ms"],
        busy_ms=state["busy_ms"],
        slowest_answer_s=slowest,
        status=job["status"],
    )
    assert job["status"] in ("completed", "completed_with_errors"), job
    assert state["busy_ms"] < STALL_MS
    assert not LONG or state["stall_ms"] < STALL_MS, "or the machine had other things to do"
