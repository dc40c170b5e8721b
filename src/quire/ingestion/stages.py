"""Stages of the pipeline: working ahead of the next one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")


class _End:
    """Follows the last item."""


async def ahead(source: AsyncGenerator[T], size: int) -> AsyncGenerator[T]:
    """The items of `source`, produced in a task of its own up to `size` items early.

    What `source` raises is raised here, after the items before it. Closing this generator
    cancels the task and closes `source`; wrap it in `aclosing`.
    """
    queue: asyncio.Queue[T | _End] = asyncio.Queue(size)
    task = asyncio.create_task(_pump(source, queue))
    try:
        while not isinstance(item := await queue.get(), _End):
            yield item
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _pump(source: AsyncGenerator[T], queue: asyncio.Queue[T | _End]) -> None:
    try:
        async with aclosing(source):
            async for item in source:
                await queue.put(item)
    finally:
        # A cancelled pump has no consumer left: then this must not wait for room.
        current = asyncio.current_task()
        if current is not None and not current.cancelling():
            await queue.put(_End())
