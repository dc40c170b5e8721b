"""The embedded index: Qdrant Edge shards in a folder that one process holds.

    root/
    ├── .lock                  held by the process that has the store open
    ├── .writing               held during a write, and while another process makes a copy
    ├── .engine, .working      held by the engine's own process, if it has one (see `apart.py`)
    ├── quire.json             the alias: current generation, embedder, schema
    └── quire@3/               a generation
        ├── my-book.1/         one shard per book (see `generation.py`)
        └── other-book.1/

A generation that the alias doesn't name is a rebuild that never finished; opening removes it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from filelock import BaseFileLock, FileLock, Timeout
from numpy.typing import NDArray

from quire.errors import (
    ConfigurationError,
    Conflict,
    IndexUnavailable,
    InvalidRequest,
    StoreLocked,
)
from quire.index.apart import Apart, left_at_work
from quire.index.finds import C, Choose, Question, choose_from
from quire.index.gate import WriteGate
from quire.index.generations import Generations
from quire.index.payload import SCHEMA_VERSION, is_point_id
from quire.index.port import Candidates, EmbedderInfo, Hit, Index, Point, SparseVector
from quire.models import Chunk, Filters

if TYPE_CHECKING:
    from quire.index.generation import Generation
    from quire.index.shard import Shard
    from quire.index.store import Stores

T = TypeVar("T")
LAST_CALL_S = 10.0
"""How long the engine may go on with the call of a process that was killed."""
_log = logging.getLogger(__name__)


class EdgeIndex:
    """The port on an embedded store; open it with `EdgeIndex.open`.

    Reads run beside each other and beside the one writer. A read belongs to the generation
    it began on, so a rebuild that finishes meanwhile neither empties nor breaks it.
    """

    def __init__(
        self,
        root: Path,
        generations: Generations,
        *,
        stores: Stores,
        lock: BaseFileLock,
        threads: ThreadPoolExecutor,
        gate: WriteGate,
    ) -> None:
        """Used by `open` and `begin_rebuild`; the lock on the root is already held."""
        self._root = root
        self._generations = generations
        self._stores = stores
        self._lock = lock
        self._threads = threads
        self._gate = gate
        self._generation: Generation | None = None
        self._schema = SCHEMA_VERSION
        self._rebuild_of: EdgeIndex | None = None
        self._writing = asyncio.Lock()
        self._closed = False
        self._reading: Future[None] | None = None
        """The table being read: one at a time, so that searches have threads."""

    @classmethod
    async def open(cls, root: Path, collection: str = "quire", *, apart: bool = False) -> Self:
        """Take the folder for this process; raises `StoreLocked` if another has it.

        `apart` runs the engine in a process of its own: for whoever serves meanwhile.
        """
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", collection):
            raise ConfigurationError(
                f"QDRANT_COLLECTION_NAME={collection!r}: use letters, digits, '-' and '_'"
            )
        stores = await asyncio.to_thread(_stores, root, apart=apart)
        lock = await asyncio.to_thread(lock_folder, root)
        threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="quire-index")
        gate = WriteGate(root)
        generations = Generations(root, collection, stores=stores, gate=gate)
        index = cls(root, generations, stores=stores, lock=lock, threads=threads, gate=gate)
        try:
            if (found := await index._blocking(generations.load)) is not None:
                index._generation, index._schema = found
        except BaseException:
            threads.shutdown(wait=False)
            lock.release()
            raise
        return index

    async def embedder(self) -> EmbedderInfo | None:
        """The vector space of the current generation; None when there is none yet."""
        return None if self._generation is None else self._generation.embedder

    async def ping(self) -> None:
        """An open index answers; a lost process is started again by whoever needs it."""
        if self._closed:
            raise IndexUnavailable("the index is closed")

    async def prepare(self, embedder: EmbedderInfo) -> None:
        """Make the first generation, or check that the current one fits."""
        async with self._writing:
            if self._generation is None:
                self._generation = await self._blocking(self._generations.new, embedder)
                await self._blocking(self._generations.make_current, self._generation)
                return
            self._generation.embedder.check(embedder)
            if self._schema != SCHEMA_VERSION:
                raise ConfigurationError(
                    f"the index was written with schema {self._schema}, this version reads "
                    f"{SCHEMA_VERSION}; rebuild with: quire ingest PATH --mode recreate"
                )

    async def books(self) -> list[str]:
        """The ids of the books that have chunks, in order."""
        return await self._read(lambda generation: generation.books(), [])

    async def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace by chunk id, slice by slice."""
        from quire.index.shard import SLICE

        async with self._writing:
            generation = self._current()
            for point in points:
                _check(point, generation.embedder)
            for book_id, group in groupby(points, key=lambda point: point.chunk.book_id):
                batch = list(group)
                for start in range(0, len(batch), SLICE):
                    part = batch[start : start + SLICE]
                    await self._blocking(_upsert, generation, book_id, part)

    async def update_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Replace the payload of stored chunks and keep their vectors."""
        from quire.index.shard import SLICE

        async with self._writing:
            if (generation := self._generation) is None:
                return
            for book_id, group in groupby(chunks, key=lambda chunk: chunk.book_id):
                batch = list(group)
                for start in range(0, len(batch), SLICE):
                    part = batch[start : start + SLICE]
                    await self._blocking(_update_chunks, generation, book_id, part)

    async def delete(self, book_id: str, ids: Sequence[str]) -> None:
        """Remove these chunks of this book."""
        async with self._writing:
            if self._generation is not None and ids:
                await self._blocking(_delete, self._generation, book_id, ids)

    async def delete_book(self, book_id: str) -> None:
        """Remove the book's shard."""
        async with self._writing:
            if self._generation is not None:
                await self._blocking(self._generation.drop, book_id)

    async def fetch(self, book_id: str, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in the order asked."""

        def fetch(generation: Generation) -> list[Chunk]:
            with generation.shard(book_id) as shard:
                return shard.fetch(ids) if shard else []

        return await self._read(fetch, [])

    async def fetch_points(self, book_id: str, ids: Sequence[str]) -> list[Point]:
        """Like `fetch`, with the vectors."""

        def fetch_points(generation: Generation) -> list[Point]:
            with generation.shard(book_id) as shard:
                return shard.fetch_points(ids) if shard else []

        return await self._read(fetch_points, [])

    async def scroll(
        self,
        book_id: str,
        filters: Filters = Filters(),
        *,
        after: str | None = None,
        limit: int = 256,
    ) -> tuple[list[Chunk], str | None]:
        """A page of chunks in id order, and the cursor for the next page."""
        if after is not None and not is_point_id(after):
            raise InvalidRequest("the cursor is not one that a page returned", field="after")

        def scroll(generation: Generation) -> tuple[list[Chunk], str | None]:
            with generation.shard(book_id) as shard:
                return shard.scroll(filters, after, limit) if shard else ([], None)

        return await self._read(scroll, ([], None))

    async def count(self, book_id: str, filters: Filters = Filters()) -> int:
        """Exactly how many chunks of this book match."""
        return await self._read(lambda generation: _count(generation, book_id, filters), 0)

    async def search(
        self,
        book_id: str,
        *,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        filters: Filters = Filters(),
        limit: int,
        with_vectors: bool = False,
    ) -> Candidates:
        """Up to `limit` hits for each vector given; raises `EmbedderMismatch` on a wrong length."""

        def search(generation: Generation) -> Candidates:
            if dense is not None:
                generation.embedder.check_vector(dense)
            with generation.shard(book_id) as shard:
                if shard is None:
                    return Candidates((), ())
                return shard.search(dense, bm25, filters, limit, with_vectors=with_vectors)

        return await self._read(search, Candidates((), ()))

    async def find(
        self,
        book_id: str,
        question: Question,
        *,
        filters: Filters = Filters(),
        limit: int,
        choose: Choose[C],
    ) -> tuple[C, tuple[Hit, ...]]:
        """Both searches, ranked where they ran; the book's table is read when it has none."""
        wanted = False

        def find(generation: Generation) -> tuple[C, tuple[Hit, ...]] | None:
            nonlocal wanted
            generation.embedder.check_vector(question.dense)
            with generation.shard(book_id) as shard:
                if shard is None:
                    return None
                found = shard.find(question, filters, limit, choose)
                wanted = shard.wants_table()
                return found

        found = await self._read(find, None)
        if wanted:
            self._read_table(book_id)
        return found or choose_from(Candidates((), ()), question, choose)

    async def settled(self) -> None:
        """Return when no table is being read; for whoever measures."""
        if (reading := self._reading) is not None:
            await asyncio.wait([asyncio.wrap_future(reading)])

    async def commit(self) -> None:
        """Return when everything written so far is durable.

        A book that mostly holds the room of what is gone is written anew on this occasion.
        """
        async with self._writing:
            if (generation := self._generation) is not None:
                await self._blocking(generation.sync)
                for book_id in await self._blocking(generation.wasteful):
                    await self._renew(generation, book_id)

    async def begin_rebuild(self, embedder: EmbedderInfo) -> Index:
        """A new empty generation beside the current one; closing it unfinished removes it."""
        rebuilt = EdgeIndex(
            self._root,
            self._generations,
            stores=self._stores,
            lock=self._lock,
            threads=self._threads,
            gate=self._gate,
        )
        rebuilt._generation = await self._blocking(self._generations.new, embedder)
        rebuilt._rebuild_of = self
        return rebuilt

    async def finish_rebuild(self, rebuilt: Index) -> None:
        """Make the rebuilt generation the current one; the old one goes when its reads end."""
        if not isinstance(rebuilt, EdgeIndex) or rebuilt._rebuild_of is not self:
            raise Conflict("this is not a rebuild of this index, or it is finished already")
        async with self._writing, rebuilt._writing:
            generation = rebuilt._current()
            await self._blocking(generation.sync)
            await self._blocking(self._generations.make_current, generation)
            retired, self._generation = self._generation, generation
            self._schema = SCHEMA_VERSION
            rebuilt._rebuild_of = rebuilt._generation = None
            rebuilt._closed = True
            if retired is not None and retired.retire():
                await self._blocking(retired.remove)

    async def close(self) -> None:
        """Flush and let go of the folder; a rebuild that didn't finish is removed."""
        async with self._writing:
            if self._closed:
                return
            self._closed = True
            generation, self._generation = self._generation, None
            if self._rebuild_of is not None:
                if generation is not None and generation.retire():
                    await self._blocking(generation.remove, always=True)
                return
            try:
                await self._finished()
                if generation is not None:
                    await asyncio.to_thread(self._written, generation.close)
            finally:
                await asyncio.to_thread(self._stores.close)
                self._lock.release()

    # inside

    async def _finished(self) -> None:
        """Let every call that has begun end; one that doesn't fails."""
        ending = asyncio.ensure_future(asyncio.to_thread(self._threads.shutdown))
        done, _ = await asyncio.wait([ending], timeout=LAST_CALL_S)
        if not done:
            self._stores.abandon()
        await ending

    def _current(self) -> Generation:
        if self._generation is None:
            raise Conflict("the index has no collection yet: call prepare() before writing")
        return self._generation

    async def _renew(self, generation: Generation, book_id: str) -> None:
        """Copy the book to a new shard, slice by slice, and let that take its place.

        The engine's own way (`optimize`) would keep the interpreter lock to the end. Failing
        is no harm: the old shard stays.
        """
        try:
            fresh = await self._blocking(generation.fresh, book_id)
            try:
                after, copying = None, True
                while copying:
                    after = await self._blocking(_copy_slice, generation, book_id, fresh, after)
                    copying = after is not None
            except BaseException:
                await self._blocking(fresh.destroy, always=True)
                raise
            await self._blocking(generation.replace, book_id, fresh)
        except IndexUnavailable as error:
            _log.warning("a book could not be written anew: %s", error.message)

    async def _read(self, work: Callable[[Generation], T], absent: T) -> T:
        """Run the read in a thread; the generation can't be removed before it ends."""
        if self._closed:
            raise IndexUnavailable("the index is closed")
        generation = self._generation
        if generation is None:
            return absent
        return await asyncio.wrap_future(self._submit(work, generation))

    def _submit(self, work: Callable[[Generation], T], generation: Generation) -> Future[T]:
        generation.enter()
        try:
            future = self._threads.submit(work, generation)
        except BaseException:
            generation.leave()
            raise
        future.add_done_callback(lambda _: self._left(generation))
        return future

    def _left(self, generation: Generation) -> None:
        """A read has ended; this may be the event loop."""
        if generation.leave():
            try:
                self._threads.submit(generation.remove)
            except RuntimeError:  # the index is being closed
                generation.remove()

    def _read_table(self, book_id: str) -> None:
        """Begin to read the book's table, unless one is being read; failing is no harm."""
        generation = self._generation
        if self._closed or generation is None or (self._reading and not self._reading.done()):
            return

        def read(generation: Generation) -> None:
            try:
                with generation.shard(book_id) as shard:
                    if shard is not None and shard.wants_table():
                        shard.read_table(lambda: not self._closed)
            except IndexUnavailable as error:
                _log.warning("a book's table could not be read: %s", error.message)

        self._reading = self._submit(read, generation)

    async def _blocking(self, work: Callable[..., T], *args: Any, always: bool = False) -> T:
        if self._closed and not always:
            raise IndexUnavailable("the index is closed")
        try:
            return await asyncio.wrap_future(self._threads.submit(self._written, work, *args))
        except OSError as error:
            raise IndexUnavailable(f"the index at {self._root} failed: {error}") from error

    def _written(self, work: Callable[..., T], *args: Any) -> T:
        with self._gate.write():
            return work(*args)


def _stores(root: Path, *, apart: bool) -> Stores:
    if apart:
        return Apart(root)
    from quire.index.engine import Here

    return Here()


def lock_folder(root: Path) -> BaseFileLock:
    """Take the folder for this process; raises `StoreLocked` if another has it."""
    lock = FileLock(root / ".lock", thread_local=False)
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StoreLocked(
            f"another process has the index at {root} open; stop it, or set QDRANT_URL and "
            "DATABASE_URL, which let many processes share one index"
        ) from error
    except OSError as error:
        raise IndexUnavailable(f"can't use the index at {root}: {error.strerror}") from error
    if (left := left_at_work(root, LAST_CALL_S)) is not None:
        lock.release()
        raise StoreLocked(
            f"a process that was ended left its index's process {left} at work in {root}; "
            "try again, or end that one too"
        )
    return lock


def _upsert(generation: Generation, book_id: str, points: Sequence[Point]) -> None:
    generation.create(book_id)
    with generation.shard(book_id) as shard:
        if shard is not None:
            shard.upsert(points)


def _update_chunks(generation: Generation, book_id: str, chunks: Sequence[Chunk]) -> None:
    with generation.shard(book_id) as shard:
        if shard is not None:
            shard.update_chunks(chunks)


def _delete(generation: Generation, book_id: str, ids: Sequence[str]) -> None:
    """An emptied shard goes, so that a book has a folder just when it has chunks."""
    with generation.shard(book_id) as shard:
        if shard is None:
            return
        shard.delete(ids)
        left = shard.count(Filters())
    if not left:
        generation.drop(book_id)


def _copy_slice(
    generation: Generation, book_id: str, target: Shard, after: str | None
) -> str | None:
    with generation.shard(book_id) as shard:
        return shard.copy_slice(target, after) if shard else None


def _count(generation: Generation, book_id: str, filters: Filters) -> int:
    with generation.shard(book_id) as shard:
        return shard.count(filters) if shard else 0


def _check(point: Point, embedder: EmbedderInfo) -> None:
    if not is_point_id(point.chunk.id):
        raise InvalidRequest(f"chunk id {point.chunk.id!r} is not a UUID", field="id")
    embedder.check_vector(point.dense)
