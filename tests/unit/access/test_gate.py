"""Callers: what they own and see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quire.access import ApiKey, Caller
from quire.errors import NotFound
from quire.models import utc_now

KEY = ApiKey(
    id="id",
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


def test_owners_are_apart() -> None:
    publishable = replace(KEY, kind="publishable")
    owners = [
        Caller().owner,
        Caller(key=KEY).owner,
        Caller(key=publishable).owner,
        Caller(key=publishable, visitor="one").owner,
    ]
    assert owners == ["local", "id", "id/anonymous", "id/one"]
    assert Caller(key=publishable).is_anonymous
    assert not Caller(key=KEY).is_anonymous


def test_a_bound_key_has_one_book() -> None:
    caller = Caller(key=replace(KEY, book_id="rover"))
    assert caller.book(None) == caller.book("rover") == "rover"
    assert (caller.sees("rover"), caller.sees("lander")) == (True, False)
    with pytest.raises(NotFound):
        caller.book("lander")


def test_a_free_key_has_every_book() -> None:
    for caller in (Caller(), Caller(key=KEY)):
        assert caller.book(None) is None
        assert caller.book("rover") == "rover"
        assert caller.sees("lander")
