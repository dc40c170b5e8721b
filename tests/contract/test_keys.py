"""Keys on both databases: shown once, kept as digests, ended at once."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from quire.access import Keys
from quire.access.keys import CACHE_S, origin_of
from quire.access.pepper import given_pepper, pepper_file
from quire.database import Database, upgrade
from quire.errors import InvalidRequest, InvalidSetting, NotFound, Unauthorized
from tests.postgres import database_url

PEPPER = b"p" * 32
SITE = "https://docs.example"


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    store = Database(database_url(request.param, tmp_path))
    await upgrade(store)
    yield store
    await store.close()


@pytest.fixture
def keys(database: Database) -> Keys:
    return Keys(database, lambda: PEPPER)


async def test_a_key_is_known_by_its_text(keys: Keys) -> None:
    created = await keys.create("one", scopes=("chat",), book_id="rover")
    assert len(created.text) == len("sk_") + 12 + 1 + 43  # 32 bytes in base64 are 43 characters
    found = await keys.authenticate(created.text)
    assert (found.id, found.scopes, found.book_id) == (created.key.id, {"chat"}, "rover")
    assert (await keys.all())[0].last_used_at is not None


async def test_a_dump_of_the_database_yields_no_key(keys: Keys, database: Database) -> None:
    created = await keys.create("one")
    async with database.transaction(read_only=True) as session:
        rows = (await session.execute(text("SELECT * FROM api_keys"))).all()
    secret = created.text.split("_", 2)[2]
    assert secret not in str(rows)
    other_pepper = Keys(database, lambda: b"q" * 32)
    with pytest.raises(Unauthorized):
        await other_pepper.authenticate(created.text)


@pytest.mark.parametrize("change", ["prefix", "secret", "kind", "length"])
async def test_a_wrong_key_is_refused(keys: Keys, change: str) -> None:
    good = (await keys.create("one")).text
    wrong = {
        "prefix": f"sk_{'0' * 12}" + good[15:],
        "secret": good[:-1] + ("A" if good[-1] != "A" else "B"),
        "kind": "pk" + good[2:],
        "length": good + "A",
    }[change]
    with pytest.raises(Unauthorized):
        await keys.authenticate(wrong)


async def test_a_revoked_key_ends_on_every_replica_within_a_second(database: Database) -> None:
    now = [0.0]
    here = Keys(database, lambda: PEPPER)
    there = Keys(database, lambda: PEPPER, clock=lambda: now[0])
    created = await here.create("one")
    await there.authenticate(created.text)
    await here.revoke(created.key.id)
    with pytest.raises(Unauthorized):
        await here.authenticate(created.text)
    assert CACHE_S < 1
    now[0] += CACHE_S
    with pytest.raises(Unauthorized):
        await there.authenticate(created.text)
    with pytest.raises(NotFound):
        await here.revoke("none")


async def test_the_sites_of_keys_in_force(keys: Keys) -> None:
    created = await keys.create(
        "site", kind="publishable", book_id="rover", origins=[f"{SITE}/", "https://b.example:443"]
    )
    assert await keys.origins() == {SITE, "https://b.example"}
    await keys.revoke(created.key.prefix)
    assert await keys.origins() == set()


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"kind": "publishable", "origins": [SITE]}, "book_id"),
        ({"kind": "publishable", "book_id": "b"}, "origins"),
        ({"kind": "publishable", "book_id": "b", "origins": [SITE], "scopes": ["admin"]}, "scopes"),
        ({"kind": "publishable", "book_id": "b", "origins": ["docs.example"]}, "origins"),
        ({"origins": [SITE]}, "origins"),
        ({"scopes": []}, "scopes"),
        ({"name": " "}, "name"),
    ],
)
async def test_a_key_that_makes_no_sense_is_refused(
    keys: Keys, values: dict[str, Any], field: str
) -> None:
    named: dict[str, Any] = {"name": "x", **values}
    with pytest.raises(InvalidRequest) as refused:
        await keys.create(**named)
    assert refused.value.field == field


def test_the_pepper_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "pepper"
    first = pepper_file(path)
    assert len(first) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert pepper_file(path) == first
    with pytest.raises(InvalidSetting):
        given_pepper("short")


def test_an_origin_is_what_browsers_send() -> None:
    assert origin_of("HTTP://Docs.Example:8080/") == "http://docs.example:8080"
    assert origin_of("https://[::1]:443") == "https://[::1]"
    for wrong in ("docs.example", "ftp://x", "https://x/path", "https://x:y", "javascript:1"):
        with pytest.raises(InvalidRequest):
            origin_of(wrong)
