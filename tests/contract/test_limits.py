"""Limits in memory and on a real Redis: never more than the limit in any window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from quire.access import ApiKey, Limits
from quire.errors import InvalidSetting, RateLimited, StorageUnavailable
from quire.models import utc_now
from tests.redis import redis_server, redis_url

Open = Callable[..., Limits]

KEY = ApiKey(
    id="key",
    name="key",
    prefix="sk_x",
    kind="secret",
    scopes=frozenset(("chat",)),
    book_id=None,
    origins=(),
    created_at=utc_now(),
    revoked_at=None,
    last_used_at=None,
)


@pytest.fixture(scope="module")
def redis() -> Iterator[Any]:
    with redis_server() as server:
        yield server


@pytest.fixture(params=["memory", "redis"])
def store(request: pytest.FixtureRequest) -> str | None:
    if request.param == "memory":
        return None
    server = request.getfixturevalue("redis")
    server.flushall()
    return redis_url(server)


@pytest.fixture
async def open_limits(store: str | None) -> AsyncIterator[Open]:
    opened: list[Limits] = []

    def open_one(**options: int) -> Limits:
        opened.append(Limits(store, **options))
        return opened[-1]

    yield open_one
    for limits in opened:
        await limits.close()


async def test_the_limit_and_not_one_more(open_limits: Open) -> None:
    limits = open_limits(per_key=5)
    left = [(await limits.admit(KEY, ""))[0].remaining for _ in range(5)]
    assert left == [4, 3, 2, 1, 0]
    with pytest.raises(RateLimited) as refused:
        await limits.admit(KEY, "")
    assert 1 <= refused.value.retry_after <= 61
    assert refused.value.details == {"limit": 5, "window": 60, "policy": "default"}
    await limits.admit(replace(KEY, id="other"), "")


async def test_racing_requests_never_pass_the_limit(open_limits: Open, store: str | None) -> None:
    replicas = [open_limits(per_key=20) for _ in range(4 if store else 1)]

    async def attempt(limits: Limits) -> bool:
        try:
            await limits.admit(KEY, "")
        except RateLimited:
            return False
        return True

    passed = await asyncio.gather(*(attempt(replicas[n % len(replicas)]) for n in range(80)))
    assert sum(passed) == 20


async def test_visitors_are_counted_apart(open_limits: Open) -> None:
    limits = open_limits(per_key=100, per_visitor=2)
    publishable = replace(KEY, kind="publishable")
    await limits.admit(publishable, "one")
    allowances = await limits.admit(publishable, "one")
    assert [a.name for a in allowances] == ["default", "visitor"]
    with pytest.raises(RateLimited) as refused:
        await limits.admit(publishable, "one")
    assert refused.value.details["policy"] == "visitor"
    await limits.admit(publishable, "two")


async def test_tokens_have_a_daily_budget(open_limits: Open) -> None:
    limits = open_limits(tokens_per_day=100)
    await limits.spend(KEY.id, 99)
    assert [a.remaining for a in await limits.admit(KEY, "") if a.name == "tokens"] == [1]
    await limits.spend(KEY.id, 30)
    with pytest.raises(RateLimited) as refused:
        await limits.admit(KEY, "")
    assert refused.value.details["policy"] == "tokens"
    assert refused.value.retry_after > 3600


async def test_a_limit_that_cannot_be_counted_is_not_waived() -> None:
    limits = Limits("redis://127.0.0.1:1/0")
    with pytest.raises(StorageUnavailable):
        await limits.admit(KEY, "")
    with pytest.raises(StorageUnavailable):
        await limits.check()
    await limits.close()


def test_a_wrong_address_is_named() -> None:
    with pytest.raises(InvalidSetting, match="REDIS_URL"):
        Limits("http://nowhere")
