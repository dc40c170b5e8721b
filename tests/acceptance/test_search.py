"""Search, pages and health over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.xdist_group("sample book")


def found(api: httpx.Client, **body: Any) -> list[dict[str, Any]]:
    return api.post("/search", json=body).raise_for_status().json()["results"]


def test_results_fall_in_score_and_carry_their_place(api: httpx.Client) -> None:
    results = found(api, text="quality of service reliability", limit=10)
    scores = [result["score"] for result in results]
    assert scores == sorted(scores, reverse=True)
    assert results[0]["source_file"].endswith("04-quality-of-service.md") or "quality" in str(
        results[0]["source_file"]
    )
    assert all(result["chunk_index"] < result["total_chunks"] for result in results)


@pytest.mark.parametrize(
    ("body", "holds"),
    [
        ({"module_filter": "gazebo"}, lambda r: r["module"] == "gazebo"),
        ({"hardware_tier_filter": 2}, lambda r: r["hardware_tier"] <= 2),
        ({"chapter_min": 2, "chapter_max": 3}, lambda r: 2 <= r["chapter"] <= 3),
        ({"lesson_filter": 1}, lambda r: r["lesson"] == 1),
        ({"proficiency_levels": ["A2", "B1"]}, lambda r: r["proficiency_level"] in ("A2", "B1")),
        ({"layer_filter": "L2"}, lambda r: r["layer"] == "L2"),
        ({"filters": {"module": "isaac", "layer": "L1"}}, lambda r: r["module"] == "isaac"),
    ],
)
def test_every_filter_holds_for_every_result(
    api: httpx.Client, body: dict[str, Any], holds: Any
) -> None:
    results = found(api, text="robot simulation", limit=20, **body)
    assert results
    assert all(holds(result) for result in results)


def test_a_page_and_a_chunks_neighbours_can_be_fetched(api: httpx.Client) -> None:
    result = found(api, text="what is a topic", limit=1)[0]
    page = api.get(f"/documents/{result['parent_doc_id']}").json()
    assert [chunk["chunk_index"] for chunk in page["chunks"]] == list(range(result["total_chunks"]))
    around = api.get(f"/chunks/{result['id']}", params={"before": 1, "after": 1}).json()
    assert result["id"] in [chunk["id"] for chunk in around["chunks"]]
    assert api.get("/documents/00000000-0000-0000-0000-000000000000").status_code == 404
    assert api.get("/chunks/nonsense").status_code in (404, 422)


@pytest.mark.parametrize("body", [{"text": "ab"}, {"text": "abc", "limit": 21}, {}])
def test_limits_are_enforced(api: httpx.Client, body: dict[str, Any]) -> None:
    assert api.post("/search", json=body).status_code == 422


def test_health_and_the_document_of_the_api(api: httpx.Client) -> None:
    health = api.get("/health").json()
    assert health["status"] == "healthy"
    assert set(health["services"]) >= {"index", "database", "embedder"}
    assert api.get("/readyz").status_code == 200
    paths = api.get("/openapi.json").json()["paths"]
    assert {"/chat", "/chat/stream", "/search", "/health"} <= set(paths)
    assert api.get("/books").json()["books"][0]["id"] == "physical-ai"
