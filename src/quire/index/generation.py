"""A generation of an embedded collection: a folder with one shard for each book.

One shard per book rather than one for all: a book's IDF and filters are its own without any
tenant condition that a query could forget, and a scan reads that book's vectors only (probed
with ten books of 10,000 generated chunks: about a quarter of the time in a shared shard).
The price is some 10 MB and one thread for each book in use; shards are opened on first use.
"""

from __future__ import annotations

import logging
import re
import shutil
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from quire.errors import IndexUnavailable, InvalidRequest
from quire.index.disk import LEAST_TO_OPEN, READY, check_room, remove_shard
from quire.index.gate import WriteGate
from quire.index.memory import Memory
from quire.index.payload import FILTERED
from quire.index.port import EmbedderInfo
from quire.index.shard import Shard
from quire.index.store import Stores

LONGEST_NAME: Final = 200
_log = logging.getLogger(__name__)


class Generation:
    """The shards of one generation; every method may block and may be called in any thread.

    `enter` before a read and `leave` after it: a generation that was retired is to be removed
    when its last reader leaves.
    """

    def __init__(
        self,
        folder: Path,
        embedder: EmbedderInfo,
        *,
        stores: Stores,
        memory: Memory,
        gate: WriteGate,
    ) -> None:
        """Take the folder as it is; what a crash left half-made in it is removed."""
        self.folder = folder
        self.embedder = embedder
        self._stores = stores
        self._memory = memory
        self._gate = gate
        self._lock = threading.RLock()
        """Held while a shard is opened or removed, which may take long."""
        self._counting = threading.Lock()
        """Held for a moment, also by the event loop."""
        self._readers = 0
        self._retired = False
        self._open: dict[str, Shard] = {}
        self._users: dict[Shard, int] = {}
        self._dropped: set[Shard] = set()
        folder.mkdir(parents=True, exist_ok=True)
        self._folders = dict(self._find())

    def books(self) -> list[str]:
        """The books that have a shard, in order."""
        with self._lock:
            return sorted(self._folders)

    @contextmanager
    def shard(self, book_id: str) -> Generator[Shard | None]:
        """The book's shard, kept open while in use; None if the book is unknown."""
        with self._gate_of(book_id), self._lock:
            shard = self._opened(book_id)
            if shard is not None:
                self._users[shard] = self._users.get(shard, 0) + 1
        try:
            yield shard
        finally:
            if shard is not None:
                self._let_go(shard)

    def create(self, book_id: str) -> None:
        """Make the book's shard if there is none; there is one writer."""
        with self._lock:
            if book_id in self._folders:
                return
        shard = self.fresh(book_id)
        try:
            shard.make_ready()
        except BaseException:
            shard.destroy()
            raise
        with self._lock:
            self._open[book_id], self._folders[book_id] = shard, shard.folder

    def fresh(self, book_id: str) -> Shard:
        """An empty shard for the book; it is nobody's before it is ready."""
        check_room(self.folder)
        name = folder_name(book_id)
        last = max(map(_number, self.folder.glob(f"{name}.*")), default=0)
        folder = self.folder / f"{name}.{last + 1}"
        with ExitStack() as undone:
            undone.callback(remove_shard, folder)
            store = self._stores.create(folder, self.embedder.dimension)
            undone.callback(store.close)
            for field, kind in FILTERED.items():
                store.index_field(field, kind)
            store.flush()
            shard = Shard(folder, store, self._memory)
            undone.pop_all()
        return shard

    def replace(self, book_id: str, shard: Shard) -> None:
        """Let this shard be the book's; the other goes when the last read on it has ended."""
        try:
            shard.make_ready()
        except BaseException:
            shard.destroy()  # or the next start would take it for the newer one
            raise
        with self._lock:
            old = self._opened(book_id)
            self._open[book_id], self._folders[book_id] = shard, shard.folder
            if old is not None:
                self._forget(old)

    def wasteful(self) -> list[str]:
        """The open books whose shards should be made anew."""
        with self._lock:
            return [book_id for book_id, shard in self._open.items() if shard.is_wasteful()]

    def drop(self, book_id: str) -> None:
        """Forget the book at once; its files go when the last read on them has ended."""
        with self._lock:
            shard = self._opened(book_id)
            if shard is None:
                return
            del self._open[book_id], self._folders[book_id]
            self._forget(shard)

    def sync(self) -> None:
        """Make every write so far durable."""
        self._each(Shard.sync)

    def close(self) -> None:
        """Flush and close every shard; one that fails has all that was committed in its log."""
        with self._lock:
            for shard in self._open.values():
                try:
                    shard.close()
                except IndexUnavailable as error:
                    _log.warning("a book was not closed in order: %s", error.message)
            self._open.clear()

    def enter(self) -> None:
        """A read begins."""
        with self._counting:
            self._readers += 1

    def leave(self) -> bool:
        """A read ended; whether the generation is to be removed now."""
        with self._counting:
            self._readers -= 1
            return self._retired and not self._readers

    def retire(self) -> bool:
        """No other read begins; whether the generation can be removed now."""
        with self._counting:
            self._retired = True
            return not self._readers

    def _find(self) -> Iterator[tuple[str, Path]]:
        """Each book with the newest of its shards; the others were on their way out."""
        newest: dict[str, Path] = {}
        for path in sorted(self.folder.iterdir(), key=_number):
            if (path / READY).exists():
                if (older := newest.get(path.stem)) is not None:
                    remove_shard(older)
                newest[path.stem] = path
            else:
                remove_shard(path)
        for name, path in newest.items():
            yield unquote(name), path

    def _gate_of(self, book_id: str) -> AbstractContextManager[None]:
        """What to hold while the book is opened: that replays its log. Others don't wait for it."""
        with self._lock:
            closed = book_id in self._folders and book_id not in self._open
        return self._gate.write() if closed else nullcontext()

    def _opened(self, book_id: str) -> Shard | None:
        shard = self._open.get(book_id)
        if shard is None and book_id in self._folders:
            folder = self._folders[book_id]
            check_room(folder, LEAST_TO_OPEN)
            shard = Shard(folder, self._stores.load(folder), self._memory)
            self._open[book_id] = shard
        return shard

    def _let_go(self, shard: Shard) -> None:
        with self._lock:
            self._users[shard] -= 1
            if shard in self._dropped and not self._users[shard]:
                self._dispose(shard)

    def _forget(self, shard: Shard) -> None:
        self._dropped.add(shard)
        if not self._users.get(shard):
            self._dispose(shard)

    def _dispose(self, shard: Shard) -> None:
        self._dropped.discard(shard)
        self._users.pop(shard, None)
        shard.destroy()

    def _each(self, action: Callable[[Shard], None]) -> None:
        with self._lock:
            shards = list(self._open.values())
        for shard in shards:
            action(shard)

    def remove(self) -> None:
        """Remove the shards and their folder; nobody reads them."""
        with self._lock:
            for shard in [*self._open.values(), *self._dropped]:
                shard.destroy()
            self._open.clear()
            self._dropped.clear()
            shutil.rmtree(self.folder, ignore_errors=True)


def _number(folder: Path) -> int:
    number = folder.suffix[1:]
    return int(number) if number.isdecimal() else 0


def folder_name(book_id: str) -> str:
    """The book's id as a file name on any file system, also one that ignores case."""
    name = re.sub(
        r"[^a-z0-9_-]", lambda found: "".join(f"%{b:02x}" for b in found[0].encode()), book_id
    )
    if not name or len(name) > LONGEST_NAME:
        raise InvalidRequest(
            f"a book id of {len(book_id)} characters can't be stored; use 1 to 60",
            field="book_id",
        )
    return name
