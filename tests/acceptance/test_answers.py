"""A question to the sample book over HTTP and in the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.acceptance.conftest import Terminal

pytestmark = pytest.mark.xdist_group("sample book")

QUESTION = "How do ROS 2 nodes communicate?"


def assert_quotes_are_verbatim(answer: dict[str, Any], book: Path) -> None:
    assert answer["sources"], answer["answer"]
    for source in answer["sources"]:
        text = (book / source["source_file"]).read_bytes().decode("utf-8")
        assert text[source["char_start"] : source["char_end"]] == source["quote"]
        lines = text[: source["char_start"]].count("\n") + 1
        assert lines == source["line_start"]
        assert source["line_end"] == lines + source["quote"].count("\n")
        assert source["source_url"].startswith("https://example.org/physical-ai/")


def test_an_answer_is_made_of_the_books_sentences(api: httpx.Client, sample_book: Path) -> None:
    answer = api.post("/chat", json={"query": QUESTION}).raise_for_status().json()
    assert answer["should_answer"]
    assert_quotes_are_verbatim(answer, sample_book)
    numbers = {source["number"] for source in answer["sources"]}
    for sentence in answer["sentences"]:
        assert sentence["citations"]
        assert set(sentence["citations"]) <= numbers
    for number in numbers:
        assert f"[{number}]" in answer["answer"]
    assert answer["metadata"]["chunks_retrieved"] == 5
    assert answer["book_id"] == "physical-ai"


def test_curl_without_a_content_type_works(api: httpx.Client) -> None:
    body = json.dumps({"query": QUESTION}).encode()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert api.post("/chat", content=body, headers=kind).status_code == 200
    foreign = {**kind, "Origin": "https://evil.example"}
    assert api.post("/chat", content=body, headers=foreign).status_code == 422


def test_a_citation_opens_the_section_it_stands_in(api: httpx.Client) -> None:
    answer = api.post("/chat", json={"query": "What is a launch file?"}).json()
    first = answer["sources"][0]
    assert first["source_file"] == "module-1-ros2/chapter-2-communication/05-launch-files.mdx"
    assert first["source_url"].endswith("/launch-files#what-is-a-launch-file")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what is this about?", "Physical AI is software that perceives, decides and acts"),
        ("Who should read this book?", "You can read simple Python"),
        ("How is the book organised?", "The book has four modules"),
        ("What will I learn?", "| 1 | ROS 2 | Connect programs with topics"),
    ],
)
def test_the_introduction_answers_for_the_whole_book(
    api: httpx.Client, sample_book: Path, question: str, said: str
) -> None:
    answer = api.post("/chat", json={"query": question}).raise_for_status().json()
    assert said in answer["answer"]
    assert answer["confidence_level"] in ("medium", "high")
    assert {source["source_file"] for source in answer["sources"]} == {"intro.md"}
    assert_quotes_are_verbatim(answer, sample_book)


def test_who_wrote_a_book_that_does_not_say_is_refused(api: httpx.Client) -> None:
    answer = api.post("/chat", json={"query": "Who wrote this book?"}).json()
    assert not answer["should_answer"]


def test_off_topic_is_refused_in_code_with_what_the_book_covers(api: httpx.Client) -> None:
    answer = api.post("/chat", json={"query": "Who won the football world cup in 1998?"}).json()
    assert not answer["should_answer"]
    assert answer["refusal_reason"] in ("low_confidence", "off_topic", "no_passages")
    assert answer["sources"] == []
    assert answer["confidence_level"] == "insufficient"


def test_the_stream_adds_up_to_the_answer(api: httpx.Client) -> None:
    whole = api.post("/chat", json={"query": QUESTION}).json()
    events = stream(api, {"query": QUESTION})
    kinds = [event["type"] for event in events]
    assert kinds[-2:] == ["sources", "done"]
    text = "".join(event["content"] for event in events if event["type"] == "chunk")
    assert text == whole["answer"]
    assert events[-1]["response"]["sources"] == whole["sources"]
    assert [e["type"] for e in stream(api, {"query": QUESTION, "stream": True}, "/chat")] == kinds


def stream(api: httpx.Client, body: dict[str, Any], path: str = "/chat/stream") -> list[Any]:
    with api.stream("POST", path, json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-cache"
        lines = list(response.iter_lines())
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_selected_text_is_answered_from_the_selection_alone(api: httpx.Client) -> None:
    selection = "Intro line.\r\nA gripper closes with 40 N of force. It opens in 0.2 s."
    body = {"query": "How strong is the gripper's force?", "mode": "selected_text"}
    answer = api.post("/chat", json={**body, "selected_text": selection}).json()
    source = answer["sources"][0]
    assert selection[source["char_start"] : source["char_end"]] == source["quote"]
    assert "40 N" in source["quote"]
    assert (source["source_url"], source["page_title"]) == ("selected_text", "User Selection")
    assert source["line_start"] == 2


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"query": "x", "top_k": 0}, "top_k"),
        ({"query": "x", "top_k": 21}, "top_k"),
        ({"query": "x", "score_threshold": 1.01}, "score_threshold"),
        ({"query": "x", "mode": "other"}, "mode"),
        ({"query": "x", "session_id": "not-a-uuid"}, "session_id"),
        ({"query": "x", "selected_text": "x" * 10_001}, "selected_text"),
        ({"query": "x", "unknown": 1}, "unknown"),
    ],
)
def test_a_bad_field_is_named(api: httpx.Client, body: dict[str, Any], field: str) -> None:
    response = api.post("/chat", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    error = response.json()
    assert error["error_code"] == "validation_error"
    assert field in {f["field"] for f in error["details"]["fields"]}
    assert error["trace_id"] == response.headers["x-trace-id"]


def test_other_errors_say_what_to_do(api: httpx.Client) -> None:
    missing = api.post("/chat", json={"query": "x", "book_id": "none"})
    assert (missing.status_code, missing.json()["error_code"]) == (404, "not_found")
    unknown = api.post("/chat", json={"query": "x", "filters": {"colour": "red"}})
    assert unknown.status_code == 422
    assert "colour" in unknown.json()["message"]
    selected = api.post("/chat", json={"query": "x", "mode": "selected_text"})
    assert "selected_text is required" in selected.json()["message"]
    huge = api.post("/chat", content=b"x" * 2_000_000)
    assert (huge.status_code, huge.json()["error_code"]) == (413, "payload_too_large")
    assert api.get("/nowhere").json()["error_code"] == "not_found"


def test_both_spellings_of_a_request_work(api: httpx.Client) -> None:
    body = {"message": QUESTION, "similarity_threshold": 0.1}
    assert api.post("/chat", json=body).json()["should_answer"]


def test_the_terminal_gives_the_same_answer_as_the_api(
    api: httpx.Client, terminal: Terminal, sample_book: Path
) -> None:
    # the server holds the embedded store, so that a second process is told what to do
    error = terminal.json("ask", QUESTION, code=1)
    assert "QDRANT_URL" in error["message"]
    assert api.get("/health").json()["status"] == "healthy"
