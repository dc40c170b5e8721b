"""The author's view, and the book for other assistants."""

from __future__ import annotations

import pytest

from tests.service import QUESTION, Service


async def test_the_figures_of_a_book(service: Service) -> None:
    for question in (QUESTION, "Who won the football world cup?"):
        await service.client.post("/chat", json={"query": question})
    overview = (await service.client.get("/admin/overview?book_id=rover")).json()
    figures = ("questions", "answered", "refused", "sessions", "rated_up", "rated_down")
    assert [overview[name] for name in figures] == [2, 1, 1, 2, 0, 0]
    assert overview["books"][0]["id"] == "rover"
    days = (await service.client.get("/admin/usage?book_id=rover")).json()["days"]
    assert len(days) == 1
    assert (days[0]["questions"], days[0]["answered"], days[0]["errors"]) == (2, 1, 0)
    assert days[0]["p50_ms"] <= days[0]["p95_ms"]
    assert (await service.client.get("/admin/overview?book_id=none")).status_code == 404


async def test_unanswered_questions_are_grouped(service: Service) -> None:
    for question in (
        "Which antenna does the rover camera firmware prefer?",
        "Which antenna does the rover camera firmware prefer",
        "Who won the football world cup?",
    ):
        answer = (await service.client.post("/chat", json={"query": question})).json()
        assert not answer["should_answer"], answer["answer"]
    groups = (await service.client.get("/admin/unanswered")).json()["groups"]
    assert sum(group["count"] for group in groups) == 3
    near = groups[0]
    assert near["count"] == 2
    assert len(near["questions"]) == 1
    assert near["questions"][0]["count"] == 2


async def test_a_search_is_explained(service: Service) -> None:
    found = (await service.client.get("/admin/explain", params={"q": QUESTION})).json()
    best = found["results"][0]
    assert best["section_title"] == "Battery"
    assert (best["fused_rank"], best["dense_rank"], best["bm25_rank"]) == (1, 1, 1)
    assert best["bm25_score"] == 1.0
    assert (await service.client.get("/admin/explain?q=x")).status_code == 422


async def test_books_say_what_they_allow(service: Service) -> None:
    (book,) = (await service.client.get("/books")).json()["books"]
    assert (book["title"], book["base_url"]) == ("The rover book", "https://rover.example")
    assert book["taxonomy"]["modules"] == []
    assert (book["pages"], book["chunks"] > 0) == (1, True)


@pytest.mark.parametrize("path", ["/llms.txt", "/llms-full.txt"])
async def test_the_book_for_other_assistants(service: Service, path: str) -> None:
    response = await service.client.get(path)
    assert response.headers["content-type"].startswith("text/plain")
    lines = response.text.splitlines()
    assert lines[0] == "# The rover book"
    if path == "/llms.txt":
        assert lines[2].startswith("> ")
        assert "- [Rover](https://rover.example/guide)" in lines
    else:
        assert "The rover needs a battery of 24 volts." in response.text
    assert (await service.client.get(f"{path}?book_id=none")).status_code == 404


async def test_a_known_book_is_ingested_again_from_its_folder(service: Service) -> None:
    made = await service.client.post("/ingestion/jobs", json={"book_id": "rover"})
    assert made.status_code == 202
    done = await service.library.runner.wait(made.json()["job_id"])
    assert (done.status, done.files_skipped) == ("completed", 1)
    outside = await service.client.post("/ingestion/jobs", json={"path": "/etc"})
    assert (outside.status_code, outside.json()["error_code"]) == (403, "forbidden")
