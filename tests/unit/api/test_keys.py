"""Keys, scopes, books, sites and limits at the API's door."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service import QUESTION, Service

SITE = "https://docs.example"


def bearer(key: str, **more: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}", **more}


GUARDED: list[tuple[str, str, Any]] = [
    ("GET", "/books", None),
    ("POST", "/chat", {"query": QUESTION}),
    ("POST", "/chat/stream", {"query": QUESTION}),
    ("POST", "/chat/run", {"message": QUESTION}),
    ("POST", "/search", {"text": QUESTION}),
    ("GET", "/sessions", None),
    ("GET", "/llms.txt", None),
    ("GET", "/ingestion/jobs", None),
    ("GET", "/admin/overview", None),
    ("GET", "/v1/models", None),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
]


@pytest.mark.parametrize(("method", "path", "body"), GUARDED)
async def test_no_key_or_a_wrong_one_gets_401(
    guarded: Service, method: str, path: str, body: Any
) -> None:
    wrong = ("", "sk_nonsense", f"sk_{'0' * 12}_{'a' * 43}")
    for headers in ({}, *(bearer(key) for key in wrong)):
        response = await guarded.client.request(method, path, json=body, headers=headers)
        assert response.status_code == 401, headers
        assert response.headers["www-authenticate"].startswith("Bearer")


async def test_a_key_works_in_either_header(guarded: Service) -> None:
    key = await guarded.key()
    for headers in (bearer(key), {"X-API-Key": key}):
        assert (await guarded.client.get("/books", headers=headers)).status_code == 200
    assert (await guarded.client.get(f"/books?key={key}")).status_code == 401


async def test_a_scope_opens_its_routes_only(guarded: Service) -> None:
    key = bearer(await guarded.key(scopes=("search",)))
    assert (await guarded.client.get("/books", headers=key)).status_code == 200
    chat = {"query": QUESTION, "book_id": "rover"}
    for method, path, body in (
        ("POST", "/chat", chat),
        ("GET", "/ingestion/jobs", None),
        ("GET", "/admin/keys", None),
    ):
        response = await guarded.client.request(method, path, json=body, headers=key)
        assert (response.status_code, response.json()["error_code"]) == (403, "forbidden")


async def test_a_key_of_one_book_sees_no_other(guarded: Service) -> None:
    key = bearer(await guarded.key(book_id="rover", scopes=("chat", "search", "admin", "ingest")))
    books = (await guarded.client.get("/books", headers=key)).json()["books"]
    assert [book["id"] for book in books] == ["rover"]
    answer = (await guarded.client.post("/chat", json={"query": QUESTION}, headers=key)).json()
    assert answer["book_id"] == "rover"
    other = {"query": QUESTION, "book_id": "lander"}
    assert (await guarded.client.post("/chat", json=other, headers=key)).status_code == 404
    whole = bearer(await guarded.key())
    found = await guarded.client.post(
        "/search", json={"text": QUESTION, "book_id": "lander"}, headers=whole
    )
    chunk = found.json()["results"][0]
    for path in (
        f"/chunks/{chunk['id']}",
        f"/documents/{chunk['parent_doc_id']}",
        f"/chunks/{chunk['id']}?book_id=lander",
        "/llms.txt?book_id=lander",
        "/admin/usage?book_id=lander",
        "/ingestion/state?book_id=lander",
    ):
        response = await guarded.client.get(path, headers=key)
        assert response.status_code == 404, path
        assert "lander" not in response.text.replace(path, "") or "book_id=lander" in path
    jobs = (await guarded.client.get("/ingestion/jobs", headers=key)).json()["jobs"]
    assert {job["book_id"] for job in jobs} == {"rover"}
    theirs = await guarded.library.jobs.find(book_id="lander")
    path = f"/ingestion/jobs/{theirs[0].job_id}"
    assert (await guarded.client.get(path, headers=key)).status_code == 404
    assert (await guarded.client.delete(path, headers=key)).status_code == 404
    models = (await guarded.client.get("/v1/models", headers=key)).json()["data"]
    assert [model["id"] for model in models] == ["rover"]


async def test_a_session_belongs_to_its_key(guarded: Service) -> None:
    mine, yours = bearer(await guarded.key()), bearer(await guarded.key())
    body = {"query": QUESTION, "book_id": "rover"}
    session = (await guarded.client.post("/chat", json=body, headers=mine)).json()["session_id"]
    assert (await guarded.client.get(f"/sessions/{session}", headers=mine)).status_code == 200
    assert (await guarded.client.get(f"/sessions/{session}", headers=yours)).status_code == 404
    stolen = {**body, "session_id": session}
    assert (await guarded.client.post("/chat", json=stolen, headers=yours)).status_code == 404
    assert (await guarded.client.delete(f"/sessions/{session}", headers=yours)).status_code == 404
    assert (await guarded.client.get("/sessions", headers=yours)).json()["sessions"] == []


async def test_visitors_of_a_publishable_key_are_apart(guarded: Service) -> None:
    key = await guarded.key(kind="publishable", book_id="rover", origins=[SITE])
    one = bearer(key, Origin=SITE, **{"X-Visitor-Id": "one"})
    two = bearer(key, Origin=SITE, **{"X-Visitor-Id": "two"})
    nobody = bearer(key, Origin=SITE)
    answer = await guarded.client.post("/chat", json={"query": QUESTION}, headers=one)
    session = answer.json()["session_id"]
    assert (await guarded.client.get(f"/sessions/{session}", headers=one)).status_code == 200
    for other in (two, nobody):
        assert (await guarded.client.get(f"/sessions/{session}", headers=other)).status_code == 404
    assert (await guarded.client.get("/sessions", headers=nobody)).json()["sessions"] == []


async def test_a_publishable_key_works_from_its_sites_only(guarded: Service) -> None:
    key = await guarded.key(kind="publishable", book_id="rover", origins=[SITE])
    right = await guarded.client.get("/books", headers=bearer(key, Origin=SITE))
    assert right.status_code == 200
    assert right.headers["access-control-allow-origin"] == SITE
    for headers in (bearer(key), bearer(key, Origin="https://evil.example")):
        response = await guarded.client.get("/books", headers=headers)
        assert response.status_code == 403
        assert "access-control-allow-origin" not in response.headers


async def test_preflights_are_answered_for_known_sites(guarded: Service) -> None:
    created = await guarded.library.keys.create(
        "site", kind="publishable", book_id="rover", origins=[SITE]
    )
    ask = {"Access-Control-Request-Method": "POST"}
    known = await guarded.client.options("/chat/stream", headers={**ask, "Origin": SITE})
    assert known.status_code == 204
    assert known.headers["access-control-allow-origin"] == SITE
    assert "authorization" in known.headers["access-control-allow-headers"].lower()
    evil = await guarded.client.options("/chat", headers={**ask, "Origin": "https://evil.example"})
    assert evil.status_code == 403
    await guarded.library.keys.revoke(created.key.id)
    gone = await guarded.client.options("/chat/stream", headers={**ask, "Origin": SITE})
    assert gone.status_code == 403


async def test_a_revoked_key_stops(guarded: Service) -> None:
    created = await guarded.library.keys.create("short-lived")
    assert (await guarded.client.get("/books", headers=bearer(created.text))).status_code == 200
    await guarded.library.keys.revoke(created.key.prefix)
    assert (await guarded.client.get("/books", headers=bearer(created.text))).status_code == 401


async def test_the_limit_is_counted_and_announced(guarded: Service) -> None:
    key = bearer(await guarded.key())
    first = await guarded.client.get("/books", headers=key)
    assert first.headers["ratelimit-policy"] == '"default";q=50;w=60'
    assert first.headers["ratelimit"].startswith('"default";r=49;t=')
    assert first.headers["x-ratelimit-limit"] == "50"
    assert first.headers["x-ratelimit-remaining"] == "49"
    for _ in range(49):
        assert (await guarded.client.get("/books", headers=key)).status_code == 200
    refused = await guarded.client.get("/books", headers=key)
    assert (refused.status_code, refused.json()["error_code"]) == (429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 61
    assert refused.headers["x-ratelimit-remaining"] == "0"
    other = bearer(await guarded.key())
    assert (await guarded.client.get("/books", headers=other)).status_code == 200
    streamed = await guarded.client.post("/chat/stream", json={"query": QUESTION}, headers=key)
    assert streamed.status_code == 429


async def test_one_visitor_cannot_use_up_a_publishable_key(guarded: Service) -> None:
    key = await guarded.key(kind="publishable", book_id="rover", origins=[SITE])
    loud = bearer(key, Origin=SITE, **{"X-Visitor-Id": "loud"})
    calm = bearer(key, Origin=SITE, **{"X-Visitor-Id": "calm"})
    for _ in range(5):
        assert (await guarded.client.get("/books", headers=loud)).status_code == 200
    assert (await guarded.client.get("/books", headers=loud)).status_code == 429
    assert (await guarded.client.get("/books", headers=calm)).status_code == 200


async def test_an_author_makes_and_revokes_keys(guarded: Service) -> None:
    admin = bearer(await guarded.key(scopes=("admin",)))
    body = {"name": "Docs", "kind": "publishable", "scopes": ["ask"], "book_id": "rover"}
    made = await guarded.client.post("/admin/keys", json={**body, "origins": [SITE]}, headers=admin)
    assert made.status_code == 201
    key = made.json()
    assert key["key"].startswith(f"{key['prefix']}_")
    assert key["scopes"] == ["chat", "search"]
    listed = (await guarded.client.get("/admin/keys", headers=admin)).json()["keys"]
    assert key["id"] in {item["id"] for item in listed}
    assert key["key"] not in (await guarded.client.get("/admin/keys", headers=admin)).text
    path = f"/admin/keys/{key['id']}"
    assert (await guarded.client.delete(path, headers=admin)).status_code == 204
    assert (await guarded.client.delete("/admin/keys/none", headers=admin)).status_code == 404
    bad = await guarded.client.post("/admin/keys", json=body, headers=admin)
    assert (bad.status_code, bad.json()["details"]["field"]) == (422, "origins")


async def test_without_keys_only_this_machine_is_served(service: Service) -> None:
    for host, status in (("localhost", 200), ("127.0.0.1:8000", 200), ("evil.example", 403)):
        response = await service.client.get("/books", headers={"Host": host})
        assert response.status_code == status
