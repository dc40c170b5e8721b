"""What the shards of an embedded store remember of what they read."""

from __future__ import annotations

import math
import threading
import time
from typing import Generic, TypeVar

from quire.index.finds import Row
from quire.index.port import Hit
from quire.index.table import Tables

V = TypeVar("V")


class VersionCache(Generic[V]):
    """What was decoded of the points of all shards, valid while the engine's version stands.

    The engine raises a point's version with every write to it, so an entry can't be stale:
    a search returns ids with versions, and only what isn't here is read and decoded.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._entries: dict[tuple[int, str], tuple[int, V]] = {}
        self._lock = threading.Lock()

    def get(self, shard: int, versions: dict[str, int]) -> dict[str, V]:
        """Those of the points that are here in just this version."""
        found: dict[str, V] = {}
        with self._lock:
            for point_id, version in versions.items():
                entry = self._entries.get((shard, point_id))
                if entry is not None and entry[0] == version:
                    found[point_id] = entry[1]
        return found

    def put(self, shard: int, versions: dict[str, int], read: dict[str, V]) -> None:
        """Keep these; the oldest entries make room."""
        with self._lock:
            for point_id, value in read.items():
                key = (shard, point_id)
                self._entries.pop(key, None)
                self._entries[key] = (versions[point_id], value)
            while len(self._entries) > self._capacity:
                del self._entries[next(iter(self._entries))]


class Memory:
    """What all shards of a store keep in memory: decoded chunks, rows, and tables."""

    def __init__(self, capacity: int = 8192) -> None:
        self.hits = VersionCache[Hit](capacity)
        self.rows = VersionCache[Row](capacity)
        self.tables = Tables()
        self._read_at = -math.inf

    def note_read(self) -> None:
        """Somebody is searching."""
        self._read_at = time.monotonic()

    def is_read(self, *, within: float) -> bool:
        """Whether somebody searched in the last so many seconds."""
        return time.monotonic() - self._read_at < within
