"""Keys, jobs, sessions and the schema in the terminal, beside a server that asks for keys."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.acceptance.conftest import Terminal
from tests.integration.service.processes import served
from tests.service import QUESTION, write_book

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Terminal:
    root = tmp_path_factory.mktemp("guarded")
    terminal = Terminal(root / "home", model_cache)
    terminal.environment["QUIRE_AUTH"] = "on"
    terminal("ingest", str(write_book(root)))
    return terminal


@pytest.fixture(scope="module")
def door(guarded: Terminal) -> Iterator[httpx.Client]:
    with (
        served(guarded.environment) as (_, address),
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


def test_a_key_is_made_used_and_revoked(guarded: Terminal, door: httpx.Client) -> None:
    assert door.post("/chat", json={"query": QUESTION}).status_code == 401
    key = guarded("keys", "create", "--name", "mine").stdout.strip()
    headers = {"Authorization": f"Bearer {key}"}
    answer = door.post("/chat", json={"query": QUESTION}, headers=headers)
    assert "24 volts" in answer.raise_for_status().json()["answer"]
    (listed,) = [k for k in guarded.json("keys", "list")["keys"] if k["name"] == "mine"]
    assert key.startswith(listed["prefix"])
    assert key not in guarded("keys", "list").stdout
    sessions = guarded.json("sessions", "list", "--owner", listed["id"])["sessions"]
    assert [thread["title"] for thread in sessions] == [QUESTION]
    assert guarded.json("sessions", "erase", "--owner", listed["id"]) == {"erased": 1}
    path = f"/sessions/{sessions[0]['thread_id']}"
    assert door.get(path, headers=headers).status_code == 404
    guarded("keys", "revoke", listed["prefix"])
    time.sleep(1.0)
    assert door.get("/books", headers=headers).status_code == 401


def test_a_publishable_key_needs_a_book_and_a_site(guarded: Terminal) -> None:
    wrong = guarded("keys", "create", "--kind", "publishable", code=2)
    assert "book" in wrong.stderr
    made = guarded.json(
        "keys", "create", "--kind", "publishable", "--book", "rover",
        "--origin", "https://docs.example",
    )  # fmt: skip
    assert made["key"].startswith("pk_")
    assert guarded("keys", "create", "--scope", "everything", code=2)


def test_jobs_are_listed_shown_and_cancelled(guarded: Terminal) -> None:
    (job,) = guarded.json("jobs", "list")["jobs"]
    assert guarded.json("jobs", "show", str(job["job_id"]))["status"] == "completed"
    assert guarded.json("jobs", "cancel", str(job["job_id"]))["status"] == "completed"
    assert guarded.json("jobs", "show", "999", code=2)["error_code"] == "not_found"


def test_the_schema_is_current(guarded: Terminal) -> None:
    assert guarded.json("db", "upgrade")["changed"] is False


def test_what_needs_shared_stores_says_so(guarded: Terminal) -> None:
    worker = guarded("worker", code=1).stderr.replace("\n", " ")
    assert "DATABASE_URL" in worker
    assert "QDRANT_URL" in worker
    open_door = guarded("serve", "--host", "0.0.0.0", code=1, QUIRE_AUTH="off").stderr
    assert "QUIRE_AUTH" in open_door
