"""Two API processes and two workers on PostgreSQL and Redis: everything is shared.

The index is the real client of a Qdrant server, talking to a stand-in over HTTP.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.integration.service.processes import (
    QUIRE,
    clean_environment,
    free_port,
    process,
    served,
    wait_for,
)
from tests.postgres import fresh_database
from tests.redis import redis_server, redis_url
from tests.service import QUESTION, write_book

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400), pytest.mark.xdist_group("replicas")]

LIMIT = 60


@dataclass
class Cluster:
    apis: list[httpx.Client]
    environment: dict[str, str]
    folder: Path

    def quire(self, *arguments: str) -> Any:
        done = subprocess.run(
            [QUIRE, *arguments, "--json"],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def key(self, *options: str) -> dict[str, str]:
        made = self.quire("keys", "create", *options)
        return {"Authorization": f"Bearer {made['key']}", "id": made["id"]}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as stack:
        redis = redis_url(stack.enter_context(redis_server()))
        port = free_port()
        module = (sys.executable, "-m", "tests.integration.service.qdrant", str(port))
        qdrant = stack.enter_context(process(*module, environment=clean_environment()))
        wait_for(f"http://127.0.0.1:{port}/collections", qdrant)
        write_book(folder)
        environment = clean_environment(
            QUIRE_MODELS=str(model_cache),
            QUIRE_AUTH="on",
            QUIRE_KEY_PEPPER="a pepper that all replicas share, long enough",
            QUIRE_RATE_LIMIT=str(LIMIT),
            QUIRE_INGEST_ROOTS=json.dumps([str(folder)]),
            QUIRE_THREADS="1",
            DATABASE_URL=fresh_database(),
            REDIS_URL=redis,
            QDRANT_URL=f"http://127.0.0.1:{port}",
        )
        homes = [{**environment, "QUIRE_HOME": str(folder / f"home-{n}")} for n in range(4)]
        apis = [
            stack.enter_context(
                httpx.Client(base_url=stack.enter_context(served(homes[n]))[1], timeout=60)
            )
            for n in range(2)
        ]
        for home in homes[2:]:
            stack.enter_context(process(QUIRE, "worker", environment=home))
        yield Cluster(apis, homes[0], folder)


@pytest.fixture(scope="module")
def ingested(cluster: Cluster) -> dict[str, Any]:
    """A job given to one API process and done by a worker."""
    headers = cluster.key("--scope", "ingest")
    body = {"path": str(cluster.folder / "rover")}
    headers["Idempotency-Key"] = "first"
    made = cluster.apis[0].post("/ingestion/jobs", json=body, headers=headers)
    assert made.status_code == 202, made.text
    again = cluster.apis[1].post("/ingestion/jobs", json=body, headers=headers)
    assert again.json()["job_id"] == made.json()["job_id"]
    job: dict[str, Any] = {}
    for _ in range(600):
        job = cluster.apis[1].get(made.headers["location"], headers=cluster_key(headers)).json()
        if job.get("status") not in ("queued", "running"):
            break
        time.sleep(1.2)  # the key may ask so often
    assert job["status"] == "completed", job
    return job


def cluster_key(headers: dict[str, str]) -> dict[str, str]:
    return {"Authorization": headers["Authorization"]}


def test_a_job_of_one_process_is_done_by_a_worker_and_seen_by_all(
    cluster: Cluster, ingested: dict[str, Any]
) -> None:
    assert ingested["files_processed"] == 1
    key = cluster.key()
    for api in cluster.apis:
        books = api.get("/books", headers=key).raise_for_status().json()["books"]
        assert [(book["id"], book["chunks"]) for book in books] == [
            ("rover", ingested["chunks_created"])
        ]
        assert books[0]["base_url"] == "https://rover.example"


def test_a_conversation_goes_on_at_the_other_process(
    cluster: Cluster, ingested: dict[str, Any]
) -> None:
    key, other = cluster.key(), cluster.key()
    one, two = cluster.apis
    first = one.post("/chat", json={"query": QUESTION}, headers=key).raise_for_status().json()
    session = first["session_id"]
    assert "24 volts" in first["answer"]
    follow = {"query": "How long does the battery last?", "session_id": session}
    two.post("/chat", json=follow, headers=key).raise_for_status()
    for api in cluster.apis:
        thread = api.get(f"/sessions/{session}", headers=key).raise_for_status().json()
        assert len(thread["messages"]) == 4
        assert api.get(f"/sessions/{session}", headers=other).status_code == 404
    assert two.delete(f"/sessions/{session}", headers=key).status_code == 204
    assert one.get(f"/sessions/{session}", headers=key).status_code == 404


def test_a_limit_is_counted_once_for_all(cluster: Cluster) -> None:
    key = cluster.key()
    statuses = [
        cluster.apis[n % 2].get("/books", headers=key).status_code for n in range(LIMIT + 6)
    ]
    assert statuses.count(200) == LIMIT
    assert set(statuses[LIMIT:]) == {429}


def test_a_revoked_key_stops_everywhere_within_a_second(cluster: Cluster) -> None:
    key = cluster.key()
    for api in cluster.apis:
        assert api.get("/books", headers=key).status_code == 200
    cluster.quire("keys", "revoke", key["id"])
    time.sleep(1.0)
    for api in cluster.apis:
        assert api.get("/books", headers=key).status_code == 401
