from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from quire.ingestion.stages import ahead


async def numbers(log: list[str], *, count: int, fail_at: int | None = None) -> AsyncGenerator[int]:
    try:
        for number in range(count):
            if number == fail_at:
                raise ValueError("broken")
            log.append(f"made {number}")
            yield number
    finally:
        log.append("closed")


async def test_items_come_in_order_and_the_source_is_closed():
    log: list[str] = []
    async with aclosing(ahead(numbers(log, count=5), 2)) as stream:
        assert [item async for item in stream] == [0, 1, 2, 3, 4]
    assert log[-1] == "closed"


async def test_the_source_works_ahead_but_not_further_than_asked():
    log: list[str] = []
    async with aclosing(ahead(numbers(log, count=50), 3)) as stream:
        assert await anext(stream) == 0
        await asyncio.sleep(0.01)
        assert 3 <= len(log) <= 6


async def test_an_error_follows_the_items_before_it():
    async with aclosing(ahead(numbers([], count=5, fail_at=3), 1)) as stream:
        assert [await anext(stream) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="broken"):
            await anext(stream)


async def test_leaving_early_stops_the_source_even_when_its_queue_is_full():
    log: list[str] = []
    async with aclosing(ahead(numbers(log, count=50), 1)) as stream:
        await anext(stream)
        await asyncio.sleep(0.01)
    assert log[-1] == "closed"


async def test_cancelling_the_consumer_closes_the_source():
    log: list[str] = []

    async def consume() -> None:
        async with aclosing(ahead(numbers(log, count=50), 1)) as stream:
            async for _ in stream:
                await asyncio.sleep(10)

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log[-1] == "closed"
