"""Who may touch the files of an embedded store: the writers of its process, or one copier."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from quire.errors import IndexUnavailable

PATIENCE_S = 60.0
_LOOK_EVERY_S = 0.005


class WriteGate:
    """Held by every write, so that another process can copy files that stand still.

    The engine works on its files only while it is called, so between two writes they are
    what a crash at that moment would leave, and opening such a copy replays its log.
    """

    def __init__(self, root: Path) -> None:
        self._file = FileLock(root / ".writing", thread_local=False)
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
        wait = partial(self._file.acquire, timeout=PATIENCE_S, poll_interval=_LOOK_EVERY_S)
        try:
            await asyncio.to_thread(wait)
        except Timeout as error:
            raise IndexUnavailable(
                f"the index was written to without a pause for {PATIENCE_S:.0f} s; try again"
            ) from error
        try:
            yield
        finally:
            self._file.release()
