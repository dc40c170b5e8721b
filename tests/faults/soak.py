"""Mixed load with random faults: what leaks, what is answered wrongly, what is a 500.

    python -m tests.faults.soak --minutes 60

One server (real index and database, a model server behind the fault proxy), eight readers that
ask, search, list, erase, leave in the middle or send nonsense, a book that changes and is ingested
again, and now and then a stopped process (SIGSTOP), a killed index or a backup. Memory,
descriptors, tasks and slots are looked at all the time; in the last part the server is killed (-9)
and started again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from quire.testing.answering import draft_json
from quire.testing.llm import Request, StubReply, calls_tool, has_passages, last_question, serve
from tests.engines import engines
from tests.faults.clients import Reply, Served, post, request_bytes, service
from tests.faults.proxy import FaultProxy, faulty
from tests.faults.scale import SEED, note
from tests.integration.service.processes import QUIRE, clean_environment
from tests.service import PAGE, QUESTION, write_book
from tests.workshop import write_pages

READERS = 8
FACT = "24 volts"
DRAFT = draft_json(("The rover needs a battery of 24 volts.", [1]))
EXPECTED = {200, 204, 202, 404, 409, 422, 413, 429, 502, 503}


def obedient(request: Request) -> StubReply:
    if has_passages(request):
        return StubReply(text=DRAFT)
    return calls_tool(last_question(request))


@dataclass
class Watch:
    """What was seen so far."""

    statuses: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])
    samples: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    errors: Counter[str] = field(default_factory=Counter[str])

    def answer(self, kind: str, reply: Reply) -> None:
        """Count a reply; remember it if it is wrong."""
        self.statuses[f"{kind} {reply.status}"] += 1
        if reply.status not in EXPECTED:
            self.wrong.append(f"{kind}: {reply.status} {reply.body[:300]!r}")

    def chat(self, reply: Reply) -> None:
        """An answer must be the book's, with a quote that stands in it."""
        self.answer("chat", reply)
        if reply.status != 200:
            self.errors[str(reply.json["error_code"])] += 1
            return
        body: dict[str, Any] = reply.json
        quotes = [source["quote"] for source in body["sources"]]
        if body["should_answer"] and (
            FACT not in body["answer"] or any(quote not in PAGE for quote in quotes)
        ):
            self.wrong.append(f"chat: {body['answer'][:200]!r} {quotes!r}")

    def stream(self, reply: Reply) -> None:
        """A stream must end with `done` or with a typed error."""
        self.answer("stream", reply)
        if reply.status == 200:
            last = reply.events[-1]
            if last["type"] == "error":
                self.errors[str(last["error_code"])] += 1
                if last["error_code"] == "internal_error":
                    self.wrong.append(f"stream: {last}")
            elif last["type"] != "done":
                self.wrong.append(f"stream without an end: {last}")


class Soak:
    """The load on one server."""

    def __init__(self, folder: Path, served: Served, proxy: FaultProxy, seed: int) -> None:
        self.folder = folder
        self.served = served
        self.proxy = proxy
        self.watch = Watch()
        self.rng = random.Random(seed)
        self.stop = asyncio.Event()

    async def run(self, seconds: float) -> None:
        """Readers, ingests, faults and looks, for so long; then a rest."""
        self.stop.clear()
        tasks = [asyncio.create_task(self.reader()) for _ in range(READERS)]
        tasks += [asyncio.create_task(work()) for work in (self.ingest, self.disturb, self.look)]
        await asyncio.sleep(seconds)
        self.stop.set()
        await asyncio.gather(*tasks)

    async def reader(self) -> None:
        """One step after the other, whatever comes of each."""
        steps = (self.ask, self.ask, self.stream, self.stream, self.search, self.vanish, self.talk)
        while not self.stop.is_set():
            step = self.rng.choice((*steps, self.nonsense))
            try:
                await asyncio.wait_for(step(), 90)
            except (TimeoutError, httpx.TimeoutException):
                self.watch.wrong.append(f"{step.__name__} didn't end within 90 s")
            except (OSError, asyncio.IncompleteReadError, ValueError, httpx.HTTPError) as error:
                self.watch.statuses[f"cut: {type(error).__name__}"] += 1
                await asyncio.sleep(0.2)

    async def ask(self) -> None:
        body = {"query": QUESTION, "book_id": "rover"}
        self.watch.chat(await post(self.served.port, "/chat", body))

    async def stream(self) -> None:
        body = {"query": QUESTION, "book_id": "rover"}
        self.watch.stream(await post(self.served.port, "/chat/stream", body))

    async def search(self) -> None:
        body = {"text": "battery of the rover", "book_id": "rover"}
        reply = await post(self.served.port, "/search", body)
        self.watch.answer("search", reply)
        if reply.status == 200 and not any(FACT in r["text"] for r in reply.json["results"]):
            self.watch.wrong.append(f"search: {reply.body[:300]!r}")

    async def talk(self) -> None:
        """Two turns of one conversation, its history, and its end."""
        body = {"query": QUESTION, "book_id": "rover"}
        first = await post(self.served.port, "/chat", body)
        self.watch.chat(first)
        if first.status != 200:
            return
        session = first.json["session_id"]
        self.watch.chat(await post(self.served.port, "/chat", {**body, "session_id": session}))
        async with httpx.AsyncClient(base_url=self.served.address, timeout=60) as client:
            thread = (await client.get(f"/sessions/{session}")).json()
            if len(thread["messages"]) % 2:
                self.watch.wrong.append(f"half a turn: {thread}")
            gone = await client.delete(f"/sessions/{session}")
            self.watch.statuses[f"erase {gone.status_code}"] += 1
            if gone.status_code == 204:
                again = await client.get(f"/sessions/{session}")
                if again.status_code != 404:
                    self.watch.wrong.append(f"erased, but {again.status_code}")

    async def vanish(self) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", self.served.port)
        writer.write(request_bytes("/chat/stream", {"query": QUESTION, "book_id": "rover"}))
        await asyncio.sleep(self.rng.random() * 0.3)
        writer.transport.abort()

    async def nonsense(self) -> None:
        body = self.rng.choice(
            [{"query": ""}, {"query": "[" * 1500}, {"query": 7}, [], {"query": "x", "top_k": 99}]
        )
        self.watch.answer("nonsense", await post(self.served.port, "/chat", body))

    async def ingest(self) -> None:
        """The other book changes all the time."""
        async with httpx.AsyncClient(base_url=self.served.address, timeout=60) as client:
            number = 0
            while not self.stop.is_set():
                number += 1
                write_pages(self.folder / "changing", 10, seed=number % 50)
                try:
                    made = await client.post(
                        "/ingestion/jobs", json={"path": str(self.folder / "changing")}
                    )
                    self.watch.statuses[f"ingest {made.status_code}"] += 1
                except httpx.HTTPError as error:
                    self.watch.statuses[f"cut: {type(error).__name__}"] += 1
                await asyncio.sleep(2)

    async def disturb(self) -> None:
        """Stop the process for a moment, kill its index, cut the model off, make a backup."""
        while not self.stop.is_set():
            await asyncio.sleep(self.rng.uniform(3, 10))
            what = self.rng.choice(["pause", "kill index", "cut", "cut", "backup"])
            self.watch.statuses[f"fault {what}"] += 1
            if what == "pause":
                os.kill(self.served.process.pid, signal.SIGSTOP)
                await asyncio.sleep(self.rng.uniform(0.2, 2))
                os.kill(self.served.process.pid, signal.SIGCONT)
            elif what == "kill index":
                for engine in engines(self.folder / "home" / "index"):
                    os.kill(engine, signal.SIGKILL)
            elif what == "cut":
                await self.proxy.stop()
            else:
                await self.back_up()

    async def back_up(self) -> None:
        environment = clean_environment(QUIRE_HOME=str(self.folder / "home"))
        backup = str(self.folder / "backup")
        process = await asyncio.create_subprocess_exec(
            QUIRE, "backup", backup, "--force", "--json",
            env=environment, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        out, _ = await process.communicate()
        if process.returncode:
            self.watch.wrong.append(f"backup: {out.decode()[-300:]}")

    async def look(self) -> None:
        while not self.stop.is_set():
            try:
                self.watch.samples.append(await self.served.state())
            except (httpx.HTTPError, OSError):
                self.watch.statuses["cut: look"] += 1
            await asyncio.sleep(5)


def growth(samples: list[dict[str, float]]) -> float:
    """By how many megabytes memory (without mapped files) grew from the second fifth on."""
    sizes = [sample["anonymous_mb"] for sample in samples]
    part = max(1, len(sizes) // 5)
    return statistics.median(sizes[-part:]) - statistics.median(sizes[part : 2 * part] or sizes)


async def soak(minutes: float, seed: int, folder: Path) -> list[str]:
    """The whole run; what was wrong, if anything."""
    book = write_book(folder)
    write_pages(folder / "changing", 10)
    problems: list[str] = []
    async with serve(obedient) as model, faulty("127.0.0.1", model.port, seed=seed) as proxy:
        proxy.rate = 0.2
        environment = {
            "FAULTS_REAL_INDEX": "1",
            "QUIRE_MODEL": "openai",
            "OPENAI_API_KEY": "unused",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{proxy.listening}/v1",
            "QUIRE_OPENAI_API": "chat",
            "QUIRE_MODEL_TIMEOUT": "5",
            "QUIRE_RATE_LIMIT": "1000000",
            "QUIRE_INGEST_ROOTS": json.dumps([str(folder)]),
        }
        with ExitStack() as stack:
            served = stack.enter_context(service(folder / "home", book, **environment))
            run = Soak(folder, served, proxy, seed)
            await run.run(min(60.0, 6 * minutes))  # warm
            await asyncio.sleep(3)
            before = await served.state()
            run.watch.samples.clear()
            await run.run(60 * minutes * 0.8)
            after = await settled(served, before)
            grown = growth(run.watch.samples)
            wrong = list(run.watch.wrong)
        kills = await killed(folder, book, environment, proxy, seed, 60 * minutes * 0.2)
    note(
        "soak",
        minutes=minutes,
        before=before,
        after=after,
        grown_mb=round(grown, 1),
        memory_mb=[
            round(sample["anonymous_mb"])
            for sample in run.watch.samples[:: max(1, len(run.watch.samples) // 20)]
        ],
        statuses=dict(run.watch.statuses),
        errors=dict(run.watch.errors),
        faults=dict(proxy.counts),
        kills=kills,
        wrong=len(wrong),
    )
    print(json.dumps({"before": before, "after": after, "grown_mb": grown, "kills": kills}))
    print(json.dumps({"statuses": run.watch.statuses, "errors": run.watch.errors}, indent=1))
    problems += wrong
    if grown > 40:
        problems.append(f"memory grew by {grown:.0f} MB")
    problems += [
        f"{name}: {before[name]} before, {after[name]} after"
        for name, spare in (("slots", 0), ("tasks", 2), ("descriptors", 12))
        if after[name] > before[name] + spare
    ]
    return problems


async def settled(served: Served, before: dict[str, float]) -> dict[str, float]:
    """What is held a little after the load ended."""
    now = before
    for _ in range(30):
        await asyncio.sleep(1)
        now = await served.state()
        if now["tasks"] <= before["tasks"] + 2 and now["slots"] == 0:
            return now
    return now


async def killed(
    folder: Path,
    book: Path,
    environment: dict[str, str],
    proxy: FaultProxy,
    seed: int,
    seconds: float,
) -> int:
    """Load, kill -9, start again, and so on; the server always comes up whole."""
    end, kills = time.monotonic() + seconds, 0
    while time.monotonic() < end or not kills:
        with service(folder / "home", book, **environment) as served:
            run = Soak(folder, served, proxy, seed + kills)
            loading = asyncio.create_task(run.run(4))
            await asyncio.sleep(run.rng.uniform(0.5, 3.5))
            served.process.kill()
            await loading
        if run.watch.wrong:
            raise AssertionError(run.watch.wrong[0])
        kills += 1
    return kills


def main() -> None:
    """Run and say what was wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quire-soak-") as folder:
        problems = asyncio.run(soak(given.minutes, SEED, Path(folder)))
    for problem in problems[:20]:
        print(problem)
    sys.exit(f"{len(problems)} problems" if problems else 0)


if __name__ == "__main__":
    main()
