"""The engine in a process of its own, so that no call of it stops the loop of this one.

The process is started with the first book and ends with this one (its input ends). It holds
`.engine` in the index's folder as long as it lives, and whoever opens the folder waits for
that: a call that was under way when this process was killed is over before another begins.
If it ends itself, the call fails, and the next one starts another and opens the book again,
whose log has all that was said to be written.
"""

from __future__ import annotations

import itertools
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from quire.errors import IndexUnavailable
from quire.index.conditions import Condition
from quire.index.payload import Kind
from quire.index.port import SparseVector
from quire.index.store import Found, NewPoint, Stored
from quire.processes import Pipes, command, stand_by

CALL_SECONDS: Final = 120.0
"""What one call may take: opening a book replays its log, some seconds at most."""
_END_SECONDS: Final = 10.0


class Apart:
    """Stores in another process; calls of several threads follow each other."""

    def __init__(self, root: Path) -> None:
        """Nothing is started yet."""
        self._root = root
        self._mutex = threading.Lock()
        self._numbers = itertools.count()
        self._child: subprocess.Popen[bytes] | None = None
        self._pipes: Pipes | None = None
        self._starts = 0

    def create(self, folder: Path, dimension: int) -> RemoteStore:
        """A new empty store."""
        with self._mutex:
            return self._opened(folder, "create", folder, dimension)

    def load(self, folder: Path) -> RemoteStore:
        """An existing store."""
        with self._mutex:
            return self._opened(folder, "load", folder)

    def call(self, store: RemoteStore, method: str, *args: Any, **how: Any) -> Any:
        """Have the store do this; its book is opened first if the process is a new one."""
        with self._mutex:
            self._begun()
            if store.opened_at != self._starts:
                self._ask(store.number, "load", store.folder)
                store.opened_at = self._starts
            return self._ask(store.number, method, *args, **how)

    def release(self, store: RemoteStore) -> None:
        """Close the store, unless its process is gone."""
        with self._mutex:
            if store.opened_at != self._starts or self._pipes is None:
                return
            try:
                self._ask(store.number, "close")
            except IndexUnavailable:
                if self.process_id is not None:  # it lives and says why not
                    raise

    def close(self) -> None:
        """End the process when it has done what it is at."""
        with self._mutex:
            self._end(patience=_END_SECONDS)

    @property
    def process_id(self) -> int | None:
        """Of the other process; None while there is none."""
        return None if self._child is None else self._child.pid

    def _opened(self, folder: Path, how: str, *args: Any) -> RemoteStore:
        self._begun()
        store = RemoteStore(self, next(self._numbers), folder, self._starts)
        self._ask(store.number, how, *args)
        return store

    def _begun(self) -> None:
        if self._child is not None and self._child.poll() is None:
            return
        self._end()
        here, there = socket.socketpair()
        here.settimeout(CALL_SECONDS)
        with there:
            self._child = subprocess.Popen(
                command(__name__, str(self._root)), stdin=there.fileno(), stdout=there.fileno()
            )
        with here:  # the two files keep it open
            self._pipes = Pipes(here.makefile("rb"), here.makefile("wb"))
        self._starts += 1

    def _ask(self, number: int, method: str, *args: Any, **how: Any) -> Any:
        pipes = cast(Pipes, self._pipes)
        try:
            pipes.send((number, method, args, how))
            result, failure = pipes.receive()
        except (EOFError, OSError) as error:
            self._end()
            late = isinstance(error, TimeoutError)
            what = f"took longer than {CALL_SECONDS:.0f} s" if late else "ended"
            raise IndexUnavailable(
                f"the process that holds the index {what}; the next request starts another"
            ) from error
        except BaseException:
            self._end()  # an answer may still be on its way
            raise
        if failure is not None:
            raise IndexUnavailable(failure)
        return result

    def _end(self, patience: float = 0.0) -> None:
        child, self._child = self._child, None
        pipes, self._pipes = self._pipes, None
        if pipes is not None:
            with suppress(OSError):
                pipes.close()
        if child is None:
            return
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


class RemoteStore:
    """A store whose engine runs in the other process."""

    def __init__(self, apart: Apart, number: int, folder: Path, opened_at: int) -> None:
        self._apart = apart
        self.number = number
        self.folder = folder
        self.opened_at = opened_at
        """Which process has it open, counted by starts."""

    def index_field(self, field: str, kind: Kind) -> None:
        """Let conditions on this field of the payload be looked up."""
        self._apart.call(self, "index_field", field, kind)

    def upsert(self, points: Sequence[NewPoint]) -> None:
        """Insert or replace by id."""
        self._apart.call(self, "upsert", points)

    def overwrite(self, payloads: Mapping[str, dict[str, Any]]) -> None:
        """Replace the payloads of points that are there."""
        self._apart.call(self, "overwrite", payloads)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove these points."""
        self._apart.call(self, "delete", ids)

    def flush(self) -> None:
        """Write the segments."""
        self._apart.call(self, "flush")

    def close(self) -> None:
        """Free the files; those of a process that is gone are free."""
        self._apart.release(self)

    def alive(self) -> int:
        """How many points there are."""
        return self._apart.call(self, "alive")

    def count(self, conditions: Sequence[Condition]) -> int:
        """Exactly how many points match."""
        return self._apart.call(self, "count", conditions)

    def query(
        self,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        conditions: Sequence[Condition],
        limit: int,
    ) -> list[list[Found]]:
        """The best points by each vector given."""
        return self._apart.call(self, "query", dense, bm25, conditions, limit)

    def retrieve(
        self, ids: Sequence[str], payload: bool | list[str], *, vectors: bool
    ) -> list[Stored]:
        """The points with these ids."""
        return self._apart.call(self, "retrieve", ids, payload, vectors=vectors)

    def scroll(
        self,
        after: str | None,
        limit: int,
        conditions: Sequence[Condition] = (),
        *,
        payload: bool | list[str] = True,
        vectors: bool = False,
    ) -> tuple[list[Stored], str | None]:
        """A page in id order."""
        return self._apart.call(
            self, "scroll", after, limit, conditions, payload=payload, vectors=vectors
        )


def wait_for_the_last(root: Path, seconds: float) -> bool:
    """Whether nothing that an earlier process started still works on the folder."""
    lock = FileLock(root / ".engine")
    try:
        lock.acquire(timeout=seconds, poll_interval=0.005)
    except Timeout:
        return False
    lock.release()
    return True


def serve(pipes: Pipes) -> None:
    """What the other process does until its input ends."""
    from quire.index.engine import EdgeStore

    stores: dict[int, EdgeStore] = {}
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            number, method, args, how = pipes.receive()
            result, failure = None, None
            try:
                if method in ("create", "load"):
                    stores[number] = getattr(EdgeStore, method)(*args)
                elif method == "close":
                    stores.pop(number).close()
                else:
                    result = getattr(stores[number], method)(*args, **how)
            except IndexUnavailable as error:
                failure = error.message
            pipes.send((result, failure))


def main() -> None:
    """The other process."""
    with FileLock(Path(sys.argv[1]) / ".engine", timeout=CALL_SECONDS / 2):
        serve(stand_by())
