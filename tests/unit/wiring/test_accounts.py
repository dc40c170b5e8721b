"""What is counted is there when it is read, and when the process ends."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

import pytest

from quire.access import Limits, Usage
from quire.access.usage import Entry
from quire.errors import ModelUnavailable
from quire.wiring import Ask, accounts
from quire.wiring.accounts import Accounts
from quire.wiring.telemetry import Telemetry


class SlowUsage:
    """Writes when it is let."""

    def __init__(self) -> None:
        self.begun, self.free = asyncio.Event(), asyncio.Event()
        self.written: list[Entry] = []

    async def record(self, entries: Sequence[Entry]) -> None:
        self.begun.set()
        await self.free.wait()
        self.written += entries


@pytest.fixture
async def writing(monkeypatch: pytest.MonkeyPatch) -> tuple[Accounts, SlowUsage]:
    """Accounts whose own flush is in the middle of writing one answer."""
    monkeypatch.setattr(accounts, "FLUSH_S", 0.0)
    usage = SlowUsage()
    found = Accounts(cast(Usage, usage), Limits(), Telemetry())
    with suppress(ModelUnavailable), found.counted(Ask(text="Why?")) as account:
        account.book_id = "book"
        raise ModelUnavailable("gone")
    await usage.begun.wait()
    return found, usage


async def ended(usage: SlowUsage, work: Any) -> None:
    """Let the write go on once the work waits for it."""
    task = asyncio.create_task(work)
    for _ in range(5):
        await asyncio.sleep(0)
    assert not task.done()
    usage.free.set()
    await task
    assert [entry.outcome for entry in usage.written] == ["error"]


async def test_who_reads_waits_for_what_is_being_written(
    writing: tuple[Accounts, SlowUsage],
) -> None:
    found, usage = writing
    await ended(usage, found.flush())
    await found.close()


async def test_the_end_breaks_no_write_off(writing: tuple[Accounts, SlowUsage]) -> None:
    found, usage = writing
    await ended(usage, found.close())
