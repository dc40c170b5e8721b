"""Who may touch the files of an embedded store: the writers of its process, or one copier."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from quire.errors import IndexUnavailable
from quire.index.apart import WORKING

PATIENCE_S = 60.0
_LOOK_EVERY_S = 0.005


class WriteGate:
    """Held by every write, so that another process can copy files that stand still.

    The engine works on its files only while it is called, so between two writes they are
    what a crash at that moment would leave, and opening such a copy replays its log. If it has a
    process of its own, that may go on after this one was killed; a copier waits for it as well.
    """

    def __init__(self, root: Path) -> None:
        self._file = FileLock(root / ".writing", thread_local=False)
        self._working = FileLock(root / WORKING, thread_local=False)
        self._mutex = threading.Lock()
        self._holders = 0

    @contextmanager
    def write(self) -> Generator[None]:
        """Beside other writes of this process; waits while a copy is made."""
        with self._mutex:
            if not self._holders:
                self._file.acquire(poll_interval=_LOOK_EVERY_S)
            self._holders += 1
        try:
            yield
        finally:
            with self._mutex:
                self._holders -= 1
                if not self._holders:
                    self._file.release()

    @asynccontextmanager
    async def standstill(self) -> AsyncGenerator[None]:
        """Keep the writers of every process out; reads of open books go on."""
        with ExitStack() as held:
            for lock in (self._file, self._working):
                wait = partial(lock.acquire, timeout=PATIENCE_S, poll_interval=_LOOK_EVERY_S)
                try:
                    held.enter_context(await asyncio.to_thread(wait))
                except Timeout as error:
                    raise IndexUnavailable(
                        f"the index was written to without a pause for {PATIENCE_S:.0f} s; "
                        "try again"
                    ) from error
            yield
