"""Finishing what was begun, whoever stops waiting for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def finished(step: Coroutine[Any, Any, T]) -> tuple[T, asyncio.CancelledError | None]:
    """The result of a step that no cancellation stops, and the last one that tried."""
    task = asyncio.ensure_future(step)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    return task.result(), cancelled


async def uninterrupted(step: Coroutine[Any, Any, T]) -> T:
    """Let a step finish before a cancellation takes effect, however often it is repeated."""
    result, cancelled = await finished(step)
    if cancelled:
        raise cancelled
    return result
