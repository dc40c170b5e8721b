"""One book in one Qdrant Edge shard: with `records` the only module that speaks to the engine.

Everything here blocks, and `qdrant-edge-py` 0.9 keeps the interpreter lock during every
call: a thread keeps the event loop's order but not its pace. So writes go in slices of a few
milliseconds, and what takes long (`flush`, `load`) is done rarely.

Durability: the engine appends each update to its write-ahead log before it applies it, and
replays the log when it loads. `sync` therefore asks the operating system to make the *log*
durable (three files, lock released) and leaves the engine's own `flush` (the shard has some
150 files; 0.9 s for one changed point on a busy disk) for when the log has grown or the shard
is closed. This relies on the engine's layout: its log is the folder `wal`.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

import numpy as np
import qdrant_edge as engine
from numpy.typing import NDArray

from quire.index.disk import READY, check_room, remove_shard, sync_file, sync_folder
from quire.index.finds import C, Choose, Question, Row, columns
from quire.index.memory import Memory
from quire.index.payload import BM25, DENSE, FILTERED, is_point_id, to_chunk, to_payload
from quire.index.port import Candidates, Hit, Point, SparseVector
from quire.index.records import (
    TABLE_FIELDS,
    EngineErrors,
    Scored,
    engine_filter,
    hit_of,
    point_of,
    ranking_of,
    row_of,
    scored_hits,
)
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

    def __init__(self, folder: Path, store: engine.EdgeShard, memory: Memory) -> None:
        self.folder = folder
        self._store = store
        self._memory = memory
        self._key = next(Shard._keys)
        self._unflushed = 0
        self._ever = self._noted() or self._alive()
        """Points ever written: the engine keeps the room of those that are gone."""
        self._dirty = False
        self._writes = 0
        self._written_at = -LONGEST_QUIET_S
        self._patience = 0.0

    @classmethod
    def create(cls, folder: Path, dimension: int, memory: Memory) -> Shard:
        """A new empty shard; without `make_ready` the next start removes its folder."""
        config = engine.EdgeConfig(
            vectors={
                DENSE: engine.EdgeVectorParams(size=dimension, distance=engine.Distance.Cosine)
            },
            sparse_vectors={BM25: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf)},
            max_search_threads=1,
        )
        kinds = {
            "keyword": engine.PayloadSchemaType.Keyword,
            "integer": engine.PayloadSchemaType.Integer,
        }
        check_room(folder.parent)
        with EngineErrors("create a shard"):
            folder.mkdir(parents=True)
            store = engine.EdgeShard.create(str(folder), config)
            for field, kind in FILTERED.items():
                store.update(engine.UpdateOperation.create_field_index(field, kinds[kind]))
            store.flush()
        return cls(folder, store, memory)

    @classmethod
    def load(cls, folder: Path, memory: Memory) -> Shard:
        """An existing shard, with what its log holds."""
        with EngineErrors(f"open {folder}"):
            return cls(folder, engine.EdgeShard.load(str(folder)), memory)

    def make_ready(self) -> None:
        """From now on the folder is a book's shard, with all that was written so far."""
        self.flush()
        with EngineErrors("finish a shard"):
            (self.folder / READY).write_text(str(self._ever))
            sync_folder(self.folder)
            sync_folder(self.folder.parent)

    # writing

    def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace by id; the caller cuts the points into slices."""
        self._ever += len(points)
        rows = [
            engine.Point(
                point.chunk.id,
                {
                    DENSE: cast(list[float], point.dense.tolist()),
                    BM25: engine.SparseVector(list(point.bm25.indices), list(point.bm25.values)),
                },
                to_payload(point.chunk),
            )
            for point in points
        ]
        self._update(engine.UpdateOperation.upsert_points(rows), len(rows))

    def update_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Replace payloads; the engine would refuse an unknown id, so those are left out."""
        known = {str(record.id) for record in self._retrieve(chunk.id for chunk in chunks)}
        for chunk in chunks:
            if chunk.id in known:
                payload = to_payload(chunk)
                self._update(engine.UpdateOperation.overwrite_payload([chunk.id], payload), 1)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove these points."""
        known: list[engine.PointId] = [point_id for point_id in ids if is_point_id(point_id)]
        if known:
            self._update(engine.UpdateOperation.delete_points(known), len(known))

    def sync(self) -> None:
        """Return when every update so far survives a power cut."""
        if not self._dirty:
            return
        log = self.folder / "wal"
        most = FLUSH_AT_LAST if self._memory.is_read(within=QUIET_S) else FLUSH_AFTER
        if self._unflushed >= most or not log.is_dir():
            self.flush()
        else:
            with EngineErrors("make its log durable"):
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
        alive = self._alive()
        return self._ever - alive >= max(LEAST_DEAD, alive)

    def copy_slice(self, target: Shard, after: str | None) -> str | None:
        """Write the next points in id order to another shard; the cursor, None at the end."""
        request = engine.ScrollRequest(
            offset=after, limit=SLICE, with_payload=True, with_vector=True
        )
        with EngineErrors("copy"):
            records, following = self._store.scroll(request)
        target.upsert([point_of(record) for record in records])
        return None if following is None else str(following)

    def flush(self) -> None:
        """Write the segments, so that the next load has no log to replay."""
        if self._unflushed:
            with EngineErrors("flush"):
                self._store.flush()
            self._unflushed = 0

    def close(self) -> None:
        """Flush and free the files."""
        self._memory.tables.drop(self._key)
        self.flush()
        with EngineErrors("close"):
            self._store.close()

    def destroy(self) -> None:
        """Close and remove the folder; a crash half-way leaves one that is no longer `READY`."""
        self._memory.tables.drop(self._key)
        with EngineErrors("close"):
            self._store.close()
        remove_shard(self.folder)

    # reading

    def fetch(self, ids: Iterable[str]) -> list[Chunk]:
        """The chunks with these ids, in this order."""
        order = list(ids)
        found = {
            str(record.id): to_chunk(str(record.id), record.payload or {})
            for record in self._retrieve(order, with_payload=True)
        }
        return [found[point_id] for point_id in order if point_id in found]

    def fetch_points(self, ids: Iterable[str]) -> list[Point]:
        """Like `fetch`, with the vectors."""
        order = list(ids)
        records = self._retrieve(order, with_payload=True, with_vector=True)
        found = {str(record.id): point_of(record) for record in records}
        return [found[point_id] for point_id in order if point_id in found]

    def scroll(
        self, filters: Filters, after: str | None, limit: int
    ) -> tuple[list[Chunk], str | None]:
        """A page in id order; the cursor is the id that the next page starts with."""
        request = engine.ScrollRequest(
            offset=after, limit=limit, filter=engine_filter(filters), with_payload=True
        )
        with EngineErrors("scroll"):
            records, following = self._store.scroll(request)
        chunks = [to_chunk(str(record.id), record.payload or {}) for record in records]
        return chunks, None if following is None else str(following)

    def count(self, filters: Filters) -> int:
        """Exactly how many points match."""
        with EngineErrors("count"):
            return self._store.count(engine.CountRequest(exact=True, filter=engine_filter(filters)))

    def search(
        self,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        filters: Filters,
        limit: int,
        *,
        with_vectors: bool,
    ) -> Candidates:
        """Both searches as one engine batch, then each found chunk decoded once.

        The dense search scans the book's vectors, so recall is 1. The engine's graph would be
        faster from some 20,000 chunks on, but building it stops every read of the process
        (150 s for 50,000 chunks on two cores).
        """
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
        near, *worded = [[(i, s) for i, s in ranking if i in rows] for ranking in rankings]
        finds, ids = columns(
            [str(point_id) for point_id, _ in near],
            {str(point_id): score for ranking in worded for point_id, score in ranking},
            {row.id: row for row in rows.values()},
            question,
        )
        choice = choose(finds)
        chosen = [uuid.UUID(ids[row]) for row in choice.rows]
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
            request = engine.ScrollRequest(
                offset=after, limit=READ_SLICE, with_payload=TABLE_FIELDS, with_vector=True
            )
            with EngineErrors("read a table"):
                records, after = self._store.scroll(request)
            rows += map(row_of, records)
            if after is None:
                break
        else:
            return
        table = Table(rows)
        self._memory.tables.put(self._key, table)
        if writes != self._writes:
            self._memory.tables.drop(self._key)

    # inside

    def _alive(self) -> int:
        with EngineErrors("count"):
            return self._store.info().points_count

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
            records = self._retrieve(missing, with_payload=True, with_vector=True)
            read = {missing[str(r.id)]: hit_of(r, with_vectors=True) for r in records}
            table.remember(read)
            hits |= read
        return tuple(hits[place] for place in places) if len(hits) >= len(places) else None

    def _update(self, operation: engine.UpdateOperation, points: int) -> None:
        check_room(self.folder)
        self._dirty = True
        self._unflushed += points
        try:
            with EngineErrors("write"):
                self._store.update(operation)
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
    ) -> tuple[list[Scored], dict[uuid.UUID, int]]:
        """Both searches as one engine batch: a ranking for each, and the points' versions."""
        narrowed = engine_filter(filters)
        queries: list[engine.Query] = []
        if dense is not None:
            queries.append(engine.Query.Nearest(cast(list[float], dense.tolist()), DENSE))
        if bm25 is not None and bm25.indices:
            terms = engine.SparseVector(list(bm25.indices), list(bm25.values))
            queries.append(engine.Query.Nearest(terms, BM25))
        if not queries:
            return [], {}
        batch = [
            engine.QueryRequest(limit, query=query, filter=narrowed, with_payload=False)
            for query in queries
        ]
        with EngineErrors("search"):
            found = self._store.query_batch(engine.QueryBatchRequest(batch))
        versions = {cast(uuid.UUID, point.id): point.version for part in found for point in part}
        return [ranking_of(points) for points in found], versions

    def _rows(self, versions: dict[uuid.UUID, int]) -> dict[uuid.UUID, Row]:
        """What a ranking asks of each point; one deleted since it was found is left out."""
        rows = self._memory.rows.get(self._key, versions)
        missing: list[engine.PointId] = [each for each in versions if each not in rows]
        if missing:
            with EngineErrors("search"):
                records = self._store.retrieve(missing, TABLE_FIELDS, True)
            read = {cast(uuid.UUID, record.id): row_of(record) for record in records}
            self._memory.rows.put(self._key, versions, read)
            rows |= read
        return rows

    def _retrieve(
        self, ids: Iterable[str], *, with_payload: bool = False, with_vector: bool = False
    ) -> list[engine.Record]:
        known: list[engine.PointId] = [point_id for point_id in ids if is_point_id(point_id)]
        records: list[engine.Record] = []
        with EngineErrors("fetch"):
            for start in range(0, len(known), READ_SLICE):
                part = known[start : start + READ_SLICE]
                records += self._store.retrieve(part, with_payload, with_vector)
        return records

    def _hits(self, versions: dict[uuid.UUID, int], *, with_vectors: bool) -> dict[uuid.UUID, Hit]:
        """Chunk (and vector) of each point, as a hit without its score."""
        hits = self._memory.hits.get(self._key, versions)
        missing: list[engine.PointId] = [
            point_id
            for point_id in versions
            if point_id not in hits or (with_vectors and hits[point_id].dense is None)
        ]
        if not missing:
            return hits
        with EngineErrors("search"):
            records = self._store.retrieve(missing, True, with_vectors)
        read = {
            cast(uuid.UUID, record.id): hit_of(record, with_vectors=with_vectors)
            for record in records
        }
        self._memory.hits.put(self._key, versions, read)
        return hits | read
