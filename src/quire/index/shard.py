"""One book in one shard of the embedded engine: what is written when, and what is remembered.

Everything here blocks. Where the engine runs in this process, its calls keep the interpreter
lock (see `engine.py`); so writes go in slices of a few milliseconds, and what takes long
(`flush`) is done rarely.

Durability: the engine appends each update to its write-ahead log before it applies it, and
replays the log when it loads. `sync` therefore asks the operating system to make the *log*
durable (three files, lock released) and leaves the engine's own `flush` (the shard has some
150 files; 0.9 s for one changed point on a busy disk) for when the log has grown or the shard
is closed. This relies on the engine's layout: its log is the folder `wal`.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quire.errors import IndexUnavailable
from quire.index.conditions import conditions
from quire.index.disk import (
    READY,
    check_room,
    remove_shard,
    sync_file,
    sync_folder,
    unready,
)
from quire.index.finds import C, Choose, Question, Row, columns
from quire.index.memory import Memory
from quire.index.payload import is_point_id, to_payload
from quire.index.port import Candidates, Hit, Point, SparseVector
from quire.index.records import TABLE_FIELDS, chunk_of, hit_of, point_of, row_of, scored_hits
from quire.index.store import Found, NewPoint, Store, Stored
from quire.index.table import Table
from quire.models import Chunk, Filters

SLICE: Final = 16
"""Points given to the engine in one call, which holds the interpreter for some milliseconds."""
FLUSH_AFTER: Final = 8192
"""Points in the log that make `sync` flush, so that a reload replays a second or two."""
FLUSH_AT_LAST: Final = 32_768
"""Points in the log that make it flush under readers too: they wait for it, for .1 to .2 s."""
READ_SLICE: Final = 64
"""Points read in one call: a few milliseconds."""
QUIET_S: Final = 1.0
LEAST_DEAD: Final = 4096
"""Points deleted or replaced from which on a book's shard may be worth making anew."""
LONGEST_QUIET_S: Final = 30.0
"""How long a book must not have been written to before its table is read: twice the time between
its last two writes, so that a table isn't read between two batches of an ingestion."""


class Shard:
    """The points of one book, with its own term statistics: IDF over it is IDF over the book."""

    _keys = itertools.count()

    def __init__(self, folder: Path, store: Store, memory: Memory) -> None:
        """Over a store that was made or opened; without `make_ready`, a new one is nobody's."""
        self.folder = folder
        self._store = store
        self._memory = memory
        self._key = next(Shard._keys)
        self._unflushed = 0
        self._ever = self._noted() or store.alive()
        """Points ever written: the engine keeps the room of those that are gone."""
        self._dirty = False
        self._writes = 0
        self._written_at = -LONGEST_QUIET_S
        self._patience = 0.0

    def make_ready(self) -> None:
        """From now on the folder is a book's shard, with all that was written so far."""
        self.flush()
        with _failing("finish a shard"):
            (self.folder / READY).write_text(str(self._ever))
            sync_folder(self.folder)
            sync_folder(self.folder.parent)

    # writing

    def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace by id; the caller cuts the points into slices."""
        self._ever += len(points)
        rows = [
            NewPoint(point.chunk.id, to_payload(point.chunk), point.dense, point.bm25)
            for point in points
        ]
        with self._writing(len(rows)):
            self._store.upsert(rows)

    def update_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Replace payloads; the engine would refuse an unknown id, so those are left out."""
        known = {stored.id for stored in self._retrieve(chunk.id for chunk in chunks)}
        payloads = {chunk.id: to_payload(chunk) for chunk in chunks if chunk.id in known}
        if payloads:
            with self._writing(len(payloads)):
                self._store.overwrite(payloads)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove these points."""
        known = [point_id for point_id in ids if is_point_id(point_id)]
        if known:
            with self._writing(len(known)):
                self._store.delete(known)

    def sync(self) -> None:
        """Return when every update so far survives a power cut."""
        if not self._dirty:
            return
        log = self.folder / "wal"
        most = FLUSH_AT_LAST if self._memory.is_read(within=QUIET_S) else FLUSH_AFTER
        if self._unflushed >= most or not log.is_dir():
            self.flush()
        else:
            with _failing("make its log durable"):
                for file in log.iterdir():
                    sync_file(file)
                sync_folder(log)
        self._dirty = False
        with suppress(OSError):  # a hint for the next start
            (self.folder / READY).write_text(str(self._ever))

    def is_wasteful(self) -> bool:
        """Whether more room is taken by what is gone than by what is there."""
        if self._ever < LEAST_DEAD:
            return False
        alive = self._store.alive()
        return self._ever - alive >= max(LEAST_DEAD, alive)

    def copy_slice(self, target: Shard, after: str | None) -> str | None:
        """Write the next points in id order to another shard; the cursor, None at the end."""
        page, following = self._store.scroll(after, SLICE, vectors=True)
        target.upsert([point_of(stored) for stored in page])
        return following

    def flush(self) -> None:
        """Write the segments, so that the next load has no log to replay."""
        if self._unflushed:
            self._store.flush()
            self._unflushed = 0

    def close(self) -> None:
        """Flush and free the files."""
        self._memory.tables.drop(self._key)
        self.flush()
        self._store.close()

    def destroy(self) -> None:
        """Close and remove the folder; a crash half-way leaves one that is no longer `READY`."""
        self._memory.tables.drop(self._key)
        unready(self.folder)
        self._store.close()
        remove_shard(self.folder)

    # reading

    def fetch(self, ids: Iterable[str]) -> list[Chunk]:
        """The chunks with these ids, in this order."""
        order = list(ids)
        found = {stored.id: chunk_of(stored) for stored in self._retrieve(order, payload=True)}
        return [found[point_id] for point_id in order if point_id in found]

    def fetch_points(self, ids: Iterable[str]) -> list[Point]:
        """Like `fetch`, with the vectors."""
        order = list(ids)
        read = self._retrieve(order, payload=True, vectors=True)
        found = {stored.id: point_of(stored) for stored in read}
        return [found[point_id] for point_id in order if point_id in found]

    def scroll(
        self, filters: Filters, after: str | None, limit: int
    ) -> tuple[list[Chunk], str | None]:
        """A page in id order; the cursor is the id that the next page starts with."""
        page, following = self._store.scroll(after, limit, conditions(filters))
        return [chunk_of(stored) for stored in page], following

    def count(self, filters: Filters) -> int:
        """Exactly how many points match."""
        return self._store.count(conditions(filters))

    def search(
        self,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        filters: Filters,
        limit: int,
        *,
        with_vectors: bool,
    ) -> Candidates:
        """Both searches, then each found chunk decoded once."""
        self._memory.note_read()
        rankings, versions = self._query(dense, bm25, filters, limit)
        known = self._hits(versions, with_vectors=with_vectors)
        lists = [scored_hits(ranking, known, with_vectors=with_vectors) for ranking in rankings]
        dense_hits = lists.pop(0) if dense is not None and lists else ()
        return Candidates(dense_hits, lists.pop(0) if lists else ())

    def find(
        self, question: Question, filters: Filters, limit: int, choose: Choose[C]
    ) -> tuple[C, tuple[Hit, ...]]:
        """The choice among what both searches found; only what was chosen is decoded.

        By the book's table if it has one, else by the engine; the finds are the same.
        """
        self._memory.note_read()
        table = None if filters != Filters() else self._memory.tables.get(self._key)
        if table is not None:
            finds, places = table.find(question, limit)
            choice = choose(finds)
            hits = self._decoded(table, [int(places[row]) for row in choice.rows])
            if hits is not None:
                return choice, hits
        rankings, versions = self._query(question.dense, question.bm25, filters, limit)
        rows = self._rows(versions)
        near, *worded = [[point for point in found if point.id in rows] for found in rankings]
        finds, ids = columns(
            [point.id for point in near],
            {point.id: point.score for found in worded for point in found},
            rows,
            question,
        )
        choice = choose(finds)
        chosen = [ids[row] for row in choice.rows]
        known = self._hits({each: versions[each] for each in chosen}, with_vectors=True)
        if len(known) < len(chosen):  # deleted since it was found: the next search won't find it
            return self.find(question, filters, limit, choose)
        return choice, tuple(known[point_id] for point_id in chosen)

    def wants_table(self) -> bool:
        """Whether a table would help the next search and would stay for a while."""
        quiet = time.monotonic() - self._written_at >= self._patience
        return quiet and self._memory.tables.get(self._key) is None

    def read_table(self, go_on: Callable[[], bool] = lambda: True) -> None:
        """Read the book's table, unless it is too large, written to meanwhile, or stopped."""
        writes, rows, after = self._writes, list[Row](), None
        if not self._memory.tables.fits(self.count(Filters())):
            return
        while go_on() and writes == self._writes:
            page, after = self._store.scroll(after, READ_SLICE, payload=TABLE_FIELDS, vectors=True)
            rows += map(row_of, page)
            if after is None:
                break
        else:
            return
        table = Table(rows)
        self._memory.tables.put(self._key, table)
        if writes != self._writes:
            self._memory.tables.drop(self._key)

    # inside

    def _noted(self) -> int:
        """What an earlier start knew of the points ever written; 0 if nothing."""
        try:
            return int((self.folder / READY).read_text())
        except (OSError, ValueError):
            return 0

    def _decoded(self, table: Table, places: Sequence[int]) -> tuple[Hit, ...] | None:
        """The chunks at these places; None if one was deleted since the table was read."""
        hits = table.known(places)
        missing = {table.ids[place]: place for place in places if place not in hits}
        if missing:
            stored = self._retrieve(missing, payload=True, vectors=True)
            read = {missing[each.id]: hit_of(each) for each in stored}
            table.remember(read)
            hits |= read
        return tuple(hits[place] for place in places) if len(hits) >= len(places) else None

    @contextmanager
    def _writing(self, points: int) -> Generator[None]:
        """Around a write of so many points."""
        check_room(self.folder)
        self._dirty = True
        self._unflushed += points
        try:
            yield
        finally:
            now = time.monotonic()
            pause = 2 * (now - self._written_at)
            self._patience = min(LONGEST_QUIET_S, max(QUIET_S, pause))
            self._writes, self._written_at = self._writes + 1, now
            self._memory.tables.drop(self._key)

    def _query(
        self,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        filters: Filters,
        limit: int,
    ) -> tuple[list[list[Found]], dict[str, int]]:
        """A ranking for each vector given, and the points' versions."""
        found = self._store.query(dense, bm25, conditions(filters), limit)
        return found, {point.id: point.version for ranking in found for point in ranking}

    def _rows(self, versions: dict[str, int]) -> dict[str, Row]:
        """What a ranking asks of each point; one deleted since it was found is left out."""
        rows = self._memory.rows.get(self._key, versions)
        missing = [each for each in versions if each not in rows]
        if missing:
            stored = self._store.retrieve(missing, TABLE_FIELDS, vectors=True)
            read = {each.id: row_of(each) for each in stored}
            self._memory.rows.put(self._key, versions, read)
            rows |= read
        return rows

    def _retrieve(
        self, ids: Iterable[str], *, payload: bool = False, vectors: bool = False
    ) -> list[Stored]:
        known = [point_id for point_id in ids if is_point_id(point_id)]
        slices = (known[at : at + READ_SLICE] for at in range(0, len(known), READ_SLICE))
        return [
            stored
            for part in slices
            for stored in self._store.retrieve(part, payload, vectors=vectors)
        ]

    def _hits(self, versions: dict[str, int], *, with_vectors: bool) -> dict[str, Hit]:
        """Chunk (and vector) of each point, as a hit without its score."""
        hits = self._memory.hits.get(self._key, versions)
        missing = [
            point_id
            for point_id in versions
            if point_id not in hits or (with_vectors and hits[point_id].dense is None)
        ]
        if not missing:
            return hits
        stored = self._store.retrieve(missing, True, vectors=with_vectors)
        read = {each.id: hit_of(each) for each in stored}
        self._memory.hits.put(self._key, versions, read)
        return hits | read


@contextmanager
def _failing(doing: str) -> Generator[None]:
    """What the operating system says in the index's words."""
    try:
        yield
    except OSError as error:
        raise IndexUnavailable(f"the embedded index failed to {doing}: {error}") from error
