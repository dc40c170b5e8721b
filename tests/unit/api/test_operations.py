"""What operators rely on: health, metrics, logs, shedding, limits of bodies."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import pytest

from quire.api import logs
from quire.errors import IndexUnavailable, Overloaded
from tests.service import QUESTION, Service, open_service, settings_in, write_book


async def test_health_has_every_field(service: Service) -> None:
    health = (await service.client.get("/health")).raise_for_status().json()
    assert health["status"] == "healthy"
    assert set(health["services"]) == {"index", "database", "embedder"}
    for part in health["services"].values():
        assert part["status"] == "up"
        assert part["latency_ms"] >= 0
        assert part["message"] is None
    assert health["timestamp"].endswith(("Z", "+00:00"))
    assert (await service.client.get("/livez")).json() == {"status": "ok"}


async def test_a_process_whose_index_is_gone_is_not_ready(service: Service) -> None:
    async def gone() -> None:
        raise IndexUnavailable("Qdrant did not answer")

    assert (await service.client.post("/search", json={"text": QUESTION})).status_code == 200
    service.app.state.library.index.ping = gone
    ready = await service.client.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["services"]["index"]["message"] == "Qdrant did not answer"


async def test_a_process_that_stops_is_not_ready(service: Service) -> None:
    assert (await service.client.get("/readyz")).status_code == 200
    service.app.state.stopping.set()
    assert (await service.client.get("/readyz")).status_code == 503
    assert (await service.client.get("/livez")).status_code == 200


async def test_metrics_count_by_route_and_outcome(service: Service) -> None:
    answer = (await service.client.post("/chat", json={"query": QUESTION})).json()
    await service.client.post("/chat", json={"query": "Who won the football world cup?"})
    await service.client.get(f"/sessions/{answer['session_id']}")
    text = (await service.client.get("/metrics")).text
    assert 'quire_answers_total{outcome="answered"} 1.0' in text
    assert 'quire_answers_total{outcome="refused"} 1.0' in text
    assert 'quire_ingest_chunks_total{action="created"}' in text
    assert "quire_retrieval_duration_seconds_bucket" in text
    counted = 'quire_http_request_duration_seconds_count{method="POST",route="/chat",status="200"}'
    assert f"{counted} 2.0" in text
    assert 'route="/sessions/{session_id}"' in text
    assert answer["session_id"] not in text
    assert "volts" not in text


async def test_what_is_too_much_is_turned_away_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in(tmp_path, max_requests=1)
    async with open_service(settings, monkeypatch, write_book(tmp_path)) as service:
        with service.app.state.slots.one():
            for path, body in (("/chat", {"query": QUESTION}), ("/search", {"text": QUESTION})):
                response = await service.client.post(path, json=body)
                assert (response.status_code, response.json()["error_code"]) == (503, "overloaded")
                assert response.headers["retry-after"] == "1"
            with pytest.raises(Overloaded), service.app.state.slots.one():
                pass
            assert (await service.client.get("/livez")).status_code == 200
        assert (await service.client.post("/chat", json={"query": QUESTION})).status_code == 200


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(logs.JsonFormatter())
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logs.quieten()
    yield lines
    root.removeHandler(handler)
    root.setLevel(level)


async def test_log_lines_have_the_trace_id_and_never_a_question_or_a_key(
    guarded: Service, log: io.StringIO
) -> None:
    key = await guarded.key()
    headers = {"Authorization": f"Bearer {key}", "X-Trace-Id": "trace-of-the-test"}
    secret = "What is the airspeed of a zanzibar swallow?"
    for path, body in (
        ("/chat", {"query": secret, "book_id": "rover"}),
        ("/chat/stream", {"query": secret, "book_id": "rover"}),
        ("/chat", {"query": secret, "book_id": "rover", "top_k": 99}),
        ("/search", {"text": secret, "book_id": "rover"}),
        ("/v1/chat/completions", {"model": "x", "messages": [{"role": "user", "content": secret}]}),
    ):
        response = await guarded.client.post(path, json=body, headers=headers)
        assert response.headers["x-trace-id"] == "trace-of-the-test"
    text = log.getvalue()
    assert "zanzibar" not in text
    assert key not in text
    requests = [json.loads(line) for line in text.splitlines() if '"quire.requests"' in line]
    assert [line["route"] for line in requests][:3] == ["/chat", "/chat/stream", "/chat"]
    assert {line["trace_id"] for line in requests} == {"trace-of-the-test"}
    assert [line["status"] for line in requests] == [200, 200, 422, 200, 404]


async def test_a_body_over_the_limit_is_refused_while_it_arrives(service: Service) -> None:
    async def endless() -> AsyncGenerator[bytes]:
        for _ in range(100):
            yield b"x" * 100_000

    response = await service.client.post("/chat", content=endless())
    assert (response.status_code, response.json()["error_code"]) == (413, "payload_too_large")


async def test_every_response_is_armoured(service: Service) -> None:
    for path in ("/livez", "/books", "/nowhere"):
        headers = (await service.client.get(path)).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-trace-id"]


async def test_what_nobody_foresaw_keeps_its_trace_id_and_its_headers(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken() -> None:
        raise ZeroDivisionError("words of a reader")

    monkeypatch.setattr(service.library.shelf, "books", broken)
    response = await service.client.get("/books", headers={"X-Trace-Id": "trace-of-mine"})
    assert (response.status_code, response.json()["error_code"]) == (500, "internal_error")
    assert response.headers["x-trace-id"] == response.json()["trace_id"] == "trace-of-mine"
    assert "content-security-policy" in response.headers
    assert "reader" not in response.text
    assert any(record.exc_info for record in caplog.records)
