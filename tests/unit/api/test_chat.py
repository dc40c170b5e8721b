"""`/chat`, field by field and limit by limit."""

from __future__ import annotations

import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.service import QUESTION, Service, open_service, settings_in, write_book

SESSION = "550e8400-e29b-41d4-a716-446655440000"


async def test_a_response_has_every_field(service: Service) -> None:
    body = {
        "query": QUESTION,
        "session_id": SESSION,
        "mode": "general",
        "selected_text": None,
        "top_k": 5,
        "score_threshold": None,
        "filters": {"page_title": ["Rover"]},
    }
    answer = (await service.client.post("/chat", json=body)).raise_for_status().json()
    assert isinstance(answer["answer"], str)
    assert answer["mode"] == "general"
    assert answer["session_id"] == SESSION
    assert 0 <= answer["confidence"] <= 1
    assert answer["applied_filters"] == {"page_title": ["Rover"]}
    assert datetime.fromisoformat(answer["timestamp"]).utcoffset() is not None
    metadata = answer["metadata"]
    assert metadata["query_time_ms"] > 0
    assert metadata["chunks_retrieved"] >= 1
    assert metadata["model"] == "extractive"
    assert metadata["trace_id"]
    source = answer["sources"][0]
    assert source["source_url"].startswith("https://rover.example/guide")
    assert source["page_title"] == "Rover"
    assert source["section_heading"] == "Battery"
    assert 0 < len(source["chunk_text"]) <= 500
    assert 0 <= source["relevance_score"] <= 1


async def test_a_selection_is_cited_by_its_own_offsets(service: Service) -> None:
    selection = "First line.\nThe wheel has a diameter of 40 cm.\nLast line."
    body = {"query": "Which diameter has the wheel?", "mode": "selected_text"}
    response = await service.client.post("/chat", json={**body, "selected_text": selection})
    answer = response.raise_for_status().json()
    source = answer["sources"][0]
    assert (source["source_url"], source["page_title"]) == ("selected_text", "User Selection")
    assert selection[source["char_start"] : source["char_end"]] == source["quote"]
    assert (source["line_start"], source["line_end"]) == (2, 2)


CHAT_LIMITS = [
    ("query", "x", True),
    ("query", "", False),
    ("query", " \n", False),
    ("query", "x" * 2000, True),
    ("query", "x" * 2001, False),
    ("session_id", SESSION, True),
    ("session_id", SESSION.upper(), False),
    ("session_id", SESSION[:-1], False),
    ("session_id", SESSION + "0", False),
    ("mode", "general", True),
    ("mode", "General", False),
    ("selected_text", "x" * 10_000, True),
    ("selected_text", "x" * 10_001, False),
    ("top_k", 0, False),
    ("top_k", 1, True),
    ("top_k", 20, True),
    ("top_k", 21, False),
    ("score_threshold", -0.01, False),
    ("score_threshold", 0.0, True),
    ("score_threshold", 1.0, True),
    ("score_threshold", 1.01, False),
    ("filters", {"source_url": "https://rover.example/guide"}, True),
    ("filters", {"section_heading": ["Battery", "Camera"]}, True),
    ("filters", {"colour": "red"}, False),
    ("filters", "page_title", False),
    ("unknown", 1, False),
]


@pytest.mark.parametrize(("field", "value", "accepted"), CHAT_LIMITS)
async def test_limits_of_a_chat_request(
    service: Service, field: str, value: Any, accepted: bool
) -> None:
    response = await service.client.post("/chat", json={"query": QUESTION, field: value})
    assert response.status_code == (200 if accepted else 422), response.text
    if not accepted:
        error = response.json()
        assert error["error_code"] == "validation_error"
        assert field in error["message"]
        assert error["trace_id"] == response.headers["x-trace-id"]
        assert response.headers["content-type"] == "application/problem+json"
        assert (error["status"], error["title"]) == (422, "Unprocessable Entity")


async def test_defaults_of_a_chat_request(service: Service) -> None:
    answer = (await service.client.post("/chat", json={"query": QUESTION})).json()
    assert answer["mode"] == "general"
    assert uuid.UUID(answer["session_id"]).version == 4
    assert answer["applied_filters"] == {}


RUN_LIMITS = [
    ("message", "x", True),
    ("message", "", False),
    ("message", "   ", False),
    ("message", "x" * 1000, True),
    ("message", "x" * 1001, False),
    ("session_id", SESSION, True),
    ("session_id", "no-uuid", False),
    ("stream", False, True),
    ("top_k", 0, False),
    ("top_k", 1, True),
    ("top_k", 10, True),
    ("top_k", 11, False),
    ("similarity_threshold", -0.01, False),
    ("similarity_threshold", 0.0, True),
    ("similarity_threshold", 1.0, True),
    ("similarity_threshold", 1.01, False),
]


@pytest.mark.parametrize(("field", "value", "accepted"), RUN_LIMITS)
async def test_limits_of_a_run_request(
    service: Service, field: str, value: Any, accepted: bool
) -> None:
    response = await service.client.post("/chat/run", json={"message": QUESTION, field: value})
    assert response.status_code == (200 if accepted else 422), response.text


async def test_a_run_response_has_every_field(service: Service) -> None:
    body = {
        "message": QUESTION,
        "session_id": SESSION,
        "stream": False,
        "top_k": 5,
        "similarity_threshold": 0.1,
    }
    answer = (await service.client.post("/chat/run", json=body)).raise_for_status().json()
    assert set(answer) == {
        "response",
        "confidence",
        "sources",
        "session_id",
        "timestamp",
        "confidence_level",
        "should_answer",
    }
    assert answer["session_id"] == SESSION
    assert answer["confidence_level"] in ("high", "medium", "low", "insufficient")
    assert answer["should_answer"] is True
    assert set(answer["sources"][0]) == {
        "chunk_text",
        "similarity_score",
        "chapter",
        "section",
        "url",
        "chunk_index",
    }
    assert answer["sources"][0]["section"] == "Battery"


async def test_a_run_response_of_a_refusal(service: Service) -> None:
    body = {"message": "Who won the football world cup in 1998?"}
    answer = (await service.client.post("/chat/run", json=body)).raise_for_status().json()
    assert answer["response"]
    assert (answer["sources"], answer["should_answer"]) == ([], False)
    assert answer["confidence_level"] == "insufficient"


async def test_a_thread_has_every_field(service: Service) -> None:
    for _ in range(2):
        body = {"message": QUESTION, "session_id": SESSION, "similarity_threshold": 0.1}
        (await service.client.post("/chat/run", json=body)).raise_for_status()
    thread = (await service.client.get(f"/sessions/{SESSION}")).raise_for_status().json()
    assert thread["thread_id"] == SESSION
    assert [message["role"] for message in thread["messages"]] == ["user", "assistant"] * 2
    assert thread["messages"][0]["content"] == QUESTION
    assert thread["messages"][0]["confidence"] is None
    assert 0 <= thread["messages"][1]["confidence"] <= 1
    for moment in (thread["created_at"], thread["messages"][0]["timestamp"]):
        assert datetime.fromisoformat(moment).utcoffset() is not None
    assert thread["created_at"] <= thread["updated_at"]
    assert thread["topic_summary"] is None
    assert thread["metadata"] == {}


@pytest.mark.parametrize(
    "body",
    [
        {"query": QUESTION, "filters": {"section_heading": "Battery"}},
        {"query": "Who won the football world cup in 1998?"},
        {"query": "How long?", "mode": "selected_text", "selected_text": "It lasts six hours."},
    ],
)
async def test_a_stored_answer_is_the_one_that_was_sent(
    service: Service, body: dict[str, Any]
) -> None:
    sent = (await service.client.post("/chat", json=body)).raise_for_status().json()
    thread = (await service.client.get(f"/sessions/{sent['session_id']}")).json()
    asked, answered = thread["messages"]
    assert asked["selected_text"] == body.get("selected_text")
    assert asked["response"] is None
    stored = answered["response"]
    assert {**stored, "timestamp": ""} == {**sent, "timestamp": ""}


async def test_the_authors_questions_come_with_the_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_book(tmp_path)
    with (root / "quire.toml").open("a") as file:
        file.write('examples = ["How many volts?", " How   long? "]\n')
    async with open_service(settings_in(tmp_path), monkeypatch, root) as service:
        (book,) = (await service.client.get("/books")).json()["books"]
    assert book["examples"] == ["How many volts?", "How long?"]


async def test_a_greeting_is_neither_unanswered_nor_a_weak_answer(service: Service) -> None:
    answer = (await service.client.post("/chat", json={"query": "Hi there!"})).json()
    assert answer["clarification"]
    assert answer["refusal_reason"] is None
    assert (await service.client.get("/admin/low-confidence")).json()["questions"] == []
    assert (await service.client.get("/admin/unanswered")).json()["groups"] == []


async def test_feedback_and_erasure(service: Service) -> None:
    answer = (await service.client.post("/chat", json={"query": QUESTION})).json()
    session, trace = answer["session_id"], answer["metadata"]["trace_id"]
    rating = {"session_id": session, "trace_id": trace, "rating": "down", "reason": "too short"}
    assert (await service.client.post("/feedback", json=rating)).status_code == 204
    weak = (await service.client.get("/admin/low-confidence")).json()["questions"]
    assert (weak[0]["question"], weak[0]["rating"]) == (QUESTION, "down")
    assert (await service.client.delete(f"/sessions/{session}")).status_code == 204
    assert (await service.client.get(f"/sessions/{session}")).status_code == 404
    assert (await service.client.post("/feedback", json=rating)).status_code == 404
    assert (await service.client.get("/admin/low-confidence")).json()["questions"] == []
