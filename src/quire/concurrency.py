"""Finishing what was begun, whoever stops waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def settled(task: asyncio.Future[Any]) -> asyncio.CancelledError | None:
    """Wait until a task is done, however often this is cancelled; the last cancellation, if any."""
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    return cancelled


async def uninterrupted(step: Coroutine[Any, Any, T]) -> T:
    """Let a step finish before a cancellation takes effect; it comes before the step's error."""
    task = asyncio.ensure_future(step)
    cancelled = await settled(task)
    if cancelled is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # looked at, so that nobody complains that it was not
    raise cancelled
