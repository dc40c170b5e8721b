"""A book's vectors and terms in memory, as columns: what a search reads of all its chunks.

The embedded engine finds the same chunks, but it holds the interpreter's lock meanwhile, and
each of two hundred hits becomes several Python objects: on 6,600 chunks a search takes a
third of the processor time this way. A table takes about 2.3 kB a chunk, is read from the
engine in the background when its book is searched, and is dropped at the first write.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.index.finds import Finds, Question, Row
from quire.index.port import Hit

MOST_ROWS: Final = 131_072
"""Chunks that all tables together may hold (300 MB); a larger book is left to the engine."""
MOST_HITS: Final = 4096
"""Decoded chunks that a table keeps: those that were chosen last."""


Posting: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float32] | None]


class Postings:
    """The rows that hold a term, with its weight in each."""

    def __init__(
        self,
        ids: NDArray[np.uint32],
        rows: NDArray[np.int32],
        weights: NDArray[np.float32] | None = None,
    ) -> None:
        order = np.argsort(ids, kind="stable")
        self._sorted = ids[order]
        self._rows = rows[order]
        self._weights = None if weights is None else weights[order]

    @classmethod
    def of_sets(cls, sets: Sequence[frozenset[int]]) -> Postings:
        """Without weights, of the terms of each row."""
        sizes = [len(each) for each in sets]
        ids = np.fromiter((i for each in sets for i in each), np.uint32, sum(sizes))
        return cls(ids, np.repeat(np.arange(len(sets), dtype=np.int32), sizes))

    def of(self, terms: NDArray[np.uint32]) -> list[Posting]:
        """For each term the rows, and the weights (None where none were given)."""
        first = np.searchsorted(self._sorted, terms, side="left").tolist()
        behind = np.searchsorted(self._sorted, terms, side="right").tolist()
        weights = self._weights
        return [
            (self._rows[a:b], None if weights is None else weights[a:b])
            for a, b in zip(first, behind, strict=True)
        ]


class Table:
    """All chunks of a book as of one moment; it never changes, so many may read it."""

    def __init__(self, rows: Iterable[Row]) -> None:
        kept = list(rows)
        self.ids = [row.id for row in kept]
        self._dense = np.stack([row.dense for row in kept])
        sizes = [len(row.terms.ids) for row in kept]
        self._words = Postings(
            np.concatenate([row.terms.ids for row in kept]),
            np.repeat(np.arange(len(kept), dtype=np.int32), sizes),
            np.concatenate([row.terms.weights for row in kept]),
        )
        self._headings = Postings.of_sets([row.headings for row in kept])
        self._section = Postings.of_sets([row.section for row in kept])
        self._path = Postings.of_sets([row.path for row in kept])
        self._page = np.unique([row.page for row in kept], return_inverse=True)[1]
        self._twin = np.unique([row.text for row in kept], return_inverse=True)[1]
        self._hits: dict[int, Hit] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.ids)

    def find(self, question: Question, limit: int) -> tuple[Finds, NDArray[np.int64]]:
        """Up to `limit` chunks by each way of searching, and which rows of the table they are."""
        # One thread and the lock released: a matrix product would take every core and spin.
        cosines = np.vecdot(self._dense, question.dense)
        held = self._words.of(question.ids)
        idf = np.array([self._idf(len(rows)) for rows, _ in held])
        scores = np.zeros(len(self))
        for worth, (rows, weights) in zip(idf, held, strict=True):
            if weights is not None and len(rows):
                scores[rows] += worth * weights
        near, worded = best(cosines, limit), best(scores, limit)
        worded = worded[scores[worded] > 0]
        place = np.full(len(self), -1)
        place[near] = np.arange(len(near))
        worded = worded[place[worded] < 0]
        place[worded] = np.arange(len(near), len(near) + len(worded))
        found = np.concatenate([near, worded])

        def named(postings: Postings) -> NDArray[np.bool_]:
            return _columns(postings.of(question.ids), place, len(found)) > 0

        finds = Finds(
            cosine=cosines[found].astype(np.float64),
            bm25=scores[found],
            weights=_columns(held, place, len(found)),
            idf=idf,
            headings=named(self._headings),
            section=named(self._section),
            path=named(self._path),
            page=self._page[found],
            twin=self._twin[found],
            nearest=len(near),
        )
        return finds, found

    def known(self, rows: Iterable[int]) -> dict[int, Hit]:
        """Those that were decoded before."""
        with self._lock:
            return {row: self._hits[row] for row in rows if row in self._hits}

    def remember(self, hits: dict[int, Hit]) -> None:
        """Keep these; the oldest make room."""
        with self._lock:
            self._hits |= hits
            while len(self._hits) > MOST_HITS:
                del self._hits[next(iter(self._hits))]

    def _idf(self, rows: int) -> float:
        return math.log1p((len(self) - rows + 0.5) / (rows + 0.5)) if rows else 0.0


class Tables:
    """The tables of several books, within one limit; those searched last stay."""

    def __init__(self, rows: int = MOST_ROWS) -> None:
        self._most = rows
        self._tables: dict[int, Table] = {}
        self._lock = threading.Lock()

    def get(self, key: int) -> Table | None:
        """The book's table, which becomes the one searched last."""
        with self._lock:
            table = self._tables.pop(key, None)
            if table is not None:
                self._tables[key] = table
            return table

    def put(self, key: int, table: Table) -> None:
        """Keep the table; others make room."""
        with self._lock:
            self._tables[key] = table
            while sum(map(len, self._tables.values())) > self._most and len(self._tables) > 1:
                del self._tables[next(iter(self._tables))]

    def drop(self, key: int) -> None:
        """The book was written to."""
        with self._lock:
            self._tables.pop(key, None)

    def fits(self, rows: int) -> bool:
        """Whether a book of that many chunks may have a table."""
        return 0 < rows <= self._most


def _columns(held: Sequence[Posting], place: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """A column for each term: its weight in each find; `place` is the find of each row, or -1."""
    columns = np.zeros((size, len(held)))
    for column, (rows, weights) in enumerate(held):
        if not len(rows):
            continue
        places = place[rows]
        found = places >= 0
        columns[places[found], column] = 1.0 if weights is None else weights[found]
    return columns


def best(scores: NDArray[np.floating], limit: int) -> NDArray[np.int64]:
    """The rows of the highest scores, best first; of equals the first."""
    if limit < len(scores):
        edge = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        above = np.flatnonzero(scores > edge)
        rows = np.concatenate([above, np.flatnonzero(scores == edge)[: limit - len(above)]])
        rows.sort()
    else:
        rows = np.arange(len(scores))
    return rows[np.argsort(-scores[rows], kind="stable")]
