"""Fifty books with canaries, generated requests with foreign ids: nothing of another book."""

from __future__ import annotations

import os
import random
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faults.scale import LONG, SEED, note, scale
from tests.service import Service, open_service, settings_in

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600 if LONG else 120)]


@dataclass
class Tenant:
    """A book with the ids only its own callers may see."""

    book_id: str
    canary: str
    headers: dict[str, str]
    session: str
    chunk: str
    document: str
    job: int
    exchange: str


def write(folder: Path, number: int) -> Path:
    """A book whose every page, heading and file name has its canary."""
    canary = f"canary{number:02}x"
    root = folder / f"book-{number:02}"
    root.mkdir(parents=True)
    (root / "quire.toml").write_text(f'id = "book-{number:02}"\ntitle = "The {canary} book"\n')
    text = f"# {canary} guide\n\n## Battery\n\nThe {canary} battery has {number + 10} volts.\n"
    (root / f"{canary}.md").write_text(text)
    return root


async def tenant(service: Service, root: Path) -> Tenant:
    number = int(root.name[-2:])
    canary = f"canary{number:02}x"
    key = await service.key(book_id=root.name, scopes=("chat", "search", "ingest", "admin"))
    headers = {"Authorization": f"Bearer {key}"}
    asked = {"query": f"How many volts has the {canary} battery?"}
    answer = (await service.client.post("/chat", json=asked, headers=headers)).json()
    assert answer["sources"], answer
    found = (await service.client.post("/search", json={"text": canary}, headers=headers)).json()[
        "results"
    ][0]
    jobs = (await service.client.get("/ingestion/jobs", headers=headers)).json()["jobs"]
    missing = {"query": f"Which team won the football cup in Brazil last summer, {canary}?"}
    refused = (await service.client.post("/chat", json=missing, headers=headers)).json()
    assert not refused["should_answer"]
    owner = (await service.library.keys.authenticate(key)).id
    exchanges = await service.library.conversations.exchanges(owner, answer["session_id"])
    await service.library.conversations.give_feedback(owner, exchanges[0].id, -1)
    return Tenant(
        book_id=root.name,
        canary=canary,
        headers=headers,
        session=answer["session_id"],
        chunk=answer["sources"][0]["chunk_id"],
        document=found["parent_doc_id"],
        job=jobs[0]["job_id"],
        exchange=exchanges[0].id,
    )


def look_alike(rng: random.Random, book_id: str) -> str:
    """An id that a careless comparison takes for the book's."""
    return rng.choice(
        [
            book_id,
            book_id.upper(),
            f" {book_id}",
            f"{book_id} ",
            f"{book_id}\u200b",
            f"{book_id}%",
            f"{book_id}*",
            f"./{book_id}",
            f"../{book_id}",
            f"{book_id}\0",
            f"{book_id}' OR '1'='1",
            unicodedata.normalize("NFKD", book_id.replace("o", "ö")),
            book_id.replace("0", "\uff10"),
            "%",
            "*",
            "",
        ]
    )


Request = tuple[str, str, Any]


def attacks(
    other: Tenant, me: Tenant, book: str, root: Path
) -> tuple[list[Request], list[Request]]:
    """Requests that name something of another book: cheap ones, and those that need an answer."""
    own = {"query": f"How many volts has the {me.canary} battery?"}
    bookish = {"text": "battery volts", "book_id": book, "top_k": 20}
    choices: list[Request] = [
        ("GET", f"/sessions/{other.session}", None),
        ("PATCH", f"/sessions/{other.session}", {"title": "mine"}),
        ("DELETE", f"/sessions/{other.session}", None),
        ("GET", f"/chunks/{other.chunk}?before=5&after=5", None),
        ("GET", f"/documents/{other.document}", None),
        ("GET", f"/ingestion/jobs/{other.job}", None),
        ("DELETE", f"/ingestion/jobs/{other.job}", None),
        ("POST", "/feedback", {"session_id": other.session, "rating": 1, "trace_id": "x"}),
        ("POST", "/search", bookish),
        ("POST", "/search", {"text": other.canary}),
        ("POST", "/search", {"text": "volts", "filters": {"source_url": other.canary}}),
        ("GET", "/books", None),
        ("GET", "/sessions?limit=100", None),
        ("GET", "/ingestion/jobs?limit=100", None),
        ("GET", "/ingestion/state", None),
        ("GET", "/llms.txt", None),
        ("GET", "/v1/models", None),
        ("GET", "/admin/overview", None),
        ("GET", "/admin/unanswered", None),
        ("GET", "/admin/low-confidence", None),
        ("GET", "/admin/usage", None),
        ("GET", "/admin/keys", None),
        ("POST", "/admin/keys", {"name": "x", "scopes": ["chat"], "book_id": book}),
        ("POST", "/ingestion/jobs", {"book_id": book}),
        ("POST", "/ingestion/jobs", {"path": str(root / other.book_id)}),
        ("POST", "/ingestion/jobs", {"path": str(root)}),
    ]
    if "\0" not in book:
        quoted = httpx.QueryParams({"book_id": book})
        choices += [
            ("GET", f"/chunks/{other.chunk}?{quoted}", None),
            ("GET", f"/documents/{other.document}?{quoted}", None),
            ("GET", f"/sessions?{quoted}", None),
            ("GET", f"/ingestion/jobs?{quoted}", None),
            ("GET", f"/ingestion/state?{quoted}", None),
            ("GET", f"/llms-full.txt?{quoted}", None),
            ("GET", f"/admin/explain?q=volts&{quoted}", None),
            ("GET", f"/admin/usage?{quoted}", None),
            ("GET", f"/admin/overview?{quoted}", None),
            ("GET", f"/admin/unanswered?{quoted}", None),
            ("GET", f"/admin/low-confidence?{quoted}", None),
            ("GET", f"/llms.txt?{quoted}", None),
        ]
    answers: list[Request] = [
        ("POST", "/chat", {**own, "session_id": other.session}),
        ("POST", "/chat", {**own, "book_id": book}),
        ("POST", "/chat/run", {"message": own["query"], "book_id": book}),
        ("POST", "/chat/stream", {"query": "How many volts has the battery?", "book_id": book}),
        (
            "POST",
            "/v1/chat/completions",
            {"model": book, "messages": [{"role": "user", "content": "How many volts?"}]},
        ),
    ]
    return choices, answers


def leaks(reply: httpx.Response, sent: str, me: Tenant, others: list[Tenant]) -> list[str]:
    """What of other books is in the reply and was not in the request."""
    text = reply.text + str(reply.headers)
    found = {word for word in re.findall(r"canary\d\dx", text) if word != me.canary}
    ids = {
        value
        for other in others
        for value in (other.session, other.chunk, other.document, other.exchange, other.book_id)
        if value in text
    }
    return [value for value in found | ids if value not in sent]


@dataclass
class Attackers:
    """Sends requests of one tenant and looks for what belongs to the others."""

    service: Service
    tenants: list[Tenant]
    statuses: Counter[int]

    async def send(self, me: Tenant, request: Request) -> httpx.Response:
        method, path, body = request
        reply = await self.service.client.request(method, path, json=body, headers=me.headers)
        self.statuses[reply.status_code] += 1
        others = [tenant for tenant in self.tenants if tenant is not me]
        assert leaks(reply, f"{path} {body}", me, others) == [], request
        assert reply.status_code < 500, (request, reply.text)
        if any(f"{name.book_id}'" in f"{path}' {body}" for name in others):
            assert reply.status_code >= 400, (request, reply.text)
        if path == "/books":
            assert [book["id"] for book in reply.json()["books"]] == [me.book_id]
        if path.startswith("/ingestion/jobs") and method == "POST" and body.get("path"):
            assert reply.status_code == 403, reply.text
        return reply


async def assert_counts(service: Service, me: Tenant) -> None:
    """What is counted is the tenant's own: two questions, one of them answered and rated."""
    overview = (await service.client.get("/admin/overview", headers=me.headers)).json()
    names = ("questions", "answered", "refused", "sessions", "rated_up", "rated_down")
    assert [overview[name] for name in names] == [2, 1, 1, 2, 0, 1]
    assert [book["id"] for book in overview["books"]] == [me.book_id]
    usage = (await service.client.get("/admin/usage", headers=me.headers)).json()
    assert sum(day["questions"] for day in usage["days"]) == 2
    jobs = (await service.client.get("/ingestion/jobs", headers=me.headers)).json()["jobs"]
    assert {job["book_id"] for job in jobs} == {me.book_id}
    listed = (await service.client.get("/sessions", headers=me.headers)).json()["sessions"]
    assert len(listed) == 2


async def test_no_byte_of_another_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(SEED)
    count = 0 if os.environ.get("FAULTS_QUICK") else scale(300, 100_000)
    roots = [write(tmp_path / "books", number) for number in range(50 if LONG else 6)]
    settings = settings_in(
        tmp_path,
        auth="on",
        rate_limit=1_000_000,
        max_turns=1000,
        ingest_roots=(tmp_path / "books",),
    )
    async with open_service(settings, monkeypatch, *roots) as service:
        tenants = [await tenant(service, root) for root in roots]
        attackers = Attackers(service, tenants, Counter())
        for each in tenants:
            await assert_counts(service, each)
        me, other = tenants[0], tenants[1]
        cheap, answers = attacks(other, me, other.book_id, tmp_path / "books")
        for request in (*cheap, *answers):
            await attackers.send(me, request)
        for _ in range(count):
            me, other = rng.sample(tenants, 2)
            book = look_alike(rng, other.book_id)
            cheap, answers = attacks(other, me, book, tmp_path / "books")
            # answers cost more than all the others together
            await attackers.send(me, rng.choice(answers if rng.random() < 0.05 else cheap))
        for each in tenants:  # nothing was changed or deleted from outside
            reply = await service.client.get(f"/sessions/{each.session}", headers=each.headers)
            assert reply.status_code == 200
            assert reply.json().get("title") != "mine"
    note("isolation", books=len(roots), requests=count, statuses=dict(attackers.statuses))
    assert attackers.statuses[404] > count // 10
