"""The engine in a process of its own, so that no call of it stops the loop of this one.

The process is started with the first book and ends with this one (its line to it ends). Two locks
in the index's folder tell other processes what it is at:

- `.engine` it holds from its first moment to its last. Whoever opens the folder waits for that, so
  a call that was under way when this process was killed is over before another begins.
- `.working` it holds during every call that writes. Whoever copies the files waits for that, too.

If it ends itself, the call fails, and the next one starts another and opens the book again, whose
log has all that was said to be written.
"""

from __future__ import annotations

import fcntl
import itertools
import logging
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from quire.errors import IndexUnavailable
from quire.index.conditions import Condition
from quire.index.payload import Kind
from quire.index.port import SparseVector
from quire.index.store import Found, NewPoint, Stored
from quire.processes import STARTED, Line, command, line_home

CALL_SECONDS: Final = 60.0
"""How long a call may say nothing: opening a book replays its log, some seconds at most."""
ENGINE: Final = ".engine"
WORKING: Final = ".working"
_END_SECONDS: Final = 10.0
_READS: Final = frozenset({"alive", "count", "query", "retrieve", "scroll"})
_LOOK_EVERY_S: Final = 0.005
_log = logging.getLogger(__name__)


class Apart:
    """Stores in another process; calls of several threads follow each other."""

    def __init__(self, root: Path) -> None:
        """Nothing is started yet."""
        self._root = root
        self._mutex = threading.Lock()
        self._numbers = itertools.count()
        self._child: subprocess.Popen[bytes] | None = None
        self._line: Line | None = None
        self._starts = 0
        self._closed = False

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
            if store.opened_at != self._starts or self._line is None:
                return
            try:
                self._ask(store.number, "close")
            except IndexUnavailable:
                if self._child is not None:  # it lives and says why not
                    raise

    def abandon(self) -> None:
        """End the process whatever it is at; calls fail from now on."""
        self._closed = True
        if (child := self._child) is not None:
            child.kill()

    def close(self) -> None:
        """End the process when it has done what it is at."""
        with self._mutex:
            self._closed = True
            self._end(patience=_END_SECONDS)

    def _opened(self, folder: Path, how: str, *args: Any) -> RemoteStore:
        self._begun()
        store = RemoteStore(self, next(self._numbers), folder, self._starts)
        self._ask(store.number, how, *args)
        return store

    def _begun(self) -> None:
        if self._closed:
            raise IndexUnavailable("the index is closed")
        if self._child is not None:
            if self._child.poll() is None:
                return
            self._lost()
        here, there = socket.socketpair()
        here.settimeout(CALL_SECONDS)
        try:
            with there, (self._root / ENGINE).open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                handed = (there.fileno(), lock.fileno())  # the lock is held by whoever has it open
                start = command(__name__, there.fileno(), str(self._root))
                self._child = subprocess.Popen(start, pass_fds=handed, **STARTED)
                lock.write(str(self._child.pid))
        except OSError as error:
            here.close()
            raise IndexUnavailable(f"the index's process can't be started: {error}") from error
        self._line = Line(here)
        self._starts += 1

    def _ask(self, number: int, method: str, *args: Any, **how: Any) -> Any:
        line = cast(Line, self._line)
        try:
            line.send((number, method, args, how))
            result, failure = line.receive()
        except TimeoutError as error:
            self._end()
            raise IndexUnavailable(
                f"the index's process said nothing for {CALL_SECONDS:.0f} s; "
                "the next request starts another"
            ) from error
        except (EOFError, OSError) as error:
            why = self._lost()
            raise IndexUnavailable(
                f"the index's process ended ({why}); the next request starts another"
            ) from error
        except BaseException:
            self._end()  # an answer may still be on its way
            raise
        if failure is not None:
            raise IndexUnavailable(failure)
        return result

    def _lost(self) -> str:
        """Note why the process ended by itself."""
        child = cast("subprocess.Popen[bytes]", self._child)
        why = _reason(self._end(patience=1.0))
        _log.warning("the index's process %d ended: %s", child.pid, why)
        return why

    def _end(self, patience: float = 0.0) -> int:
        """End the process, by force if it isn't gone in time; its exit status."""
        child, self._child = self._child, None
        line, self._line = self._line, None
        if child is not None and not patience:
            child.kill()
        if line is not None:
            with suppress(OSError):
                line.close()
        if child is None:
            return 0
        try:
            return child.wait(patience or None)
        except subprocess.TimeoutExpired:
            child.kill()
            return child.wait()


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


@contextmanager
def _at_work(working: IO[str]) -> Generator[None]:
    fcntl.flock(working, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(working, fcntl.LOCK_UN)


def _reason(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    name = signal.Signals(-status).name
    return f"{name}; is the disk full?" if name == "SIGBUS" else name


def left_at_work(root: Path, seconds: float) -> str | None:
    """The process that an ended one left at work on the folder, if it isn't gone by then."""
    end = time.monotonic() + seconds
    with (root / ENGINE).open("a+") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    lock.seek(0)
                    return lock.read() or "unknown"
                time.sleep(_LOOK_EVERY_S)
            else:
                return None


def serve(line: Line, working: IO[str]) -> None:
    """What the other process does until its line ends."""
    from quire.index.engine import EdgeStore

    stores: dict[int, EdgeStore] = {}

    def do(number: int, method: str, *args: Any, **how: Any) -> Any:
        if method in ("create", "load"):
            stores[number] = getattr(EdgeStore, method)(*args)
            return None
        if method == "close":
            return stores.pop(number).close()
        return getattr(stores[number], method)(*args, **how)

    def answer(number: int, method: str, args: tuple[Any, ...], how: dict[str, Any]) -> object:
        try:
            return do(number, method, *args, **how), None
        except IndexUnavailable as error:
            return None, error.message
        except Exception as error:  # noqa: BLE001 (one request's fault mustn't be the others')
            traceback.print_exc()
            return None, f"the embedded index failed to {method}: {error}"

    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            number, method, args, how = line.receive()
            if method in _READS:
                reply = answer(number, method, args, how)
            else:
                with _at_work(working):
                    reply = answer(number, method, args, how)
            line.send(reply)
    with _at_work(working):
        stores.clear()


def main() -> None:
    """The other process."""
    with (Path(sys.argv[2]) / WORKING).open("a") as working:
        serve(line_home(), working)
