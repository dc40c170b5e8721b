"""A thread a core, for models whose batches keep to one core each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


class Cores:
    """Runs work in threads, as many at a time as there are cores.

    Shared among the cores, a small batch takes half as much of the processor again: most of what
    it does is too short to be divided, and each core waits for the other.
    """

    def __init__(self, name: str, count: int | None = None) -> None:
        """`count` is how many run at a time; one a core by default."""
        self.count = count or _available()
        self._pool = ThreadPoolExecutor(self.count, thread_name_prefix=name)

    async def run(self, work: Callable[[], T]) -> T:
        """One piece of work, when a thread is free."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    async def each(self, work: Callable[[S], None], items: Iterable[S]) -> None:
        """The same work for each item, side by side; whoever is free takes the next one."""
        waiting = iter(items)

        async def take() -> None:
            for item in waiting:
                await self.run(lambda item=item: work(item))

        await asyncio.gather(*(take() for _ in range(self.count)))

    async def close(self) -> None:
        """Finish what runs, and leave out what waits."""
        await asyncio.to_thread(self._pool.shutdown, cancel_futures=True)


def _available() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
