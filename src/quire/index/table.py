"""A book's vectors and terms in memory, as columns: what a search reads of all its chunks.

The embedded engine finds the same chunks, but it holds the interpreter's lock meanwhile, and
each of two hundred hits becomes several Python objects: on 6,600 chunks a search takes a
third of the processor time this way. A table takes about 2.1 kB a chunk, is read from the
engine in the background when its book is searched, and is dropped at the first write.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quire.index.finds import Finds, Question, Row
from quire.index.port import Hit

MOST_ROWS: Final = 131_072
"""Chunks that all tables together may hold (300 MB); a larger book is left to the engine."""
MOST_HITS: Final = 4096
"""Decoded chunks that a table keeps: those that were chosen last."""


class Held(NamedTuple):
    """Which rows hold the asked terms: an entry for each pair of them, term by term."""

    term: NDArray[np.intp]
    """Which of the asked terms it is."""
    row: NDArray[np.intp]
    weight: NDArray[np.float32]
    counts: NDArray[np.intp]
    """How many rows hold each term."""

    def columns(
        self, found: NDArray[np.intp], rows: int, *, planes: int = 1
    ) -> NDArray[np.float64]:
        """The weights in these of so many rows: a line for each, a column for each term.

        With several planes, row `r` of plane `p` is `p * rows + r`; their lines follow each other.
        """
        lines = planes * len(found)
        line = np.full(planes * rows, -1)
        line[np.add.outer(rows * np.arange(planes), found).ravel()] = np.arange(lines)
        places = line[self.row]
        kept = np.flatnonzero(places >= 0)
        columns = np.zeros((lines, len(self.counts)))
        columns[places[kept], self.term[kept]] = self.weight[kept]
        return columns


class Postings:
    """The rows that hold a term, with its weight in each."""

    def __init__(
        self, ids: NDArray[np.uint32], rows: NDArray[np.int32], weights: NDArray[np.float32]
    ) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids, first = np.unique(ids[order], return_index=True)
        self._bounds = np.append(first, len(ids))
        self._rows = rows[order]
        self._weights = weights[order]

    @classmethod
    def of_sets(cls, sets: Sequence[frozenset[int]]) -> Postings:
        """Of the terms of each row, all of the same weight."""
        sizes = [len(each) for each in sets]
        ids = np.fromiter((i for each in sets for i in each), np.uint32, sum(sizes))
        rows = np.repeat(np.arange(len(sets), dtype=np.int32), sizes)
        return cls(ids, rows, np.ones(len(ids), np.float32))

    def of(self, terms: NDArray[np.uint32]) -> Held:
        """The rows of these terms."""
        # The distinct ids are few: a search of all entries would go through cold memory.
        first = self._bounds[np.searchsorted(self._ids, terms, side="left")]
        behind = self._bounds[np.searchsorted(self._ids, terms, side="right")]
        runs = [slice(0), *map(slice, first.tolist(), behind.tolist())]
        return Held(
            np.repeat(np.arange(len(terms)), behind - first),
            np.concatenate([self._rows[run] for run in runs]).astype(np.intp),
            np.concatenate([self._weights[run] for run in runs]),
            behind - first,
        )


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
        # One after the other: rows of headings, of the chunks' own ones, and of paths.
        self._named = Postings.of_sets(
            [
                *(row.headings for row in kept),
                *(row.section for row in kept),
                *(row.path for row in kept),
            ]
        )
        self._opens = np.array([row.opens for row in kept], np.bool_)
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
        idf = self._idf(held.counts)
        scores = np.bincount(held.row, idf[held.term] * held.weight, len(self)).astype(np.float64)
        near, worded = best(cosines, limit), best(scores, limit)
        both = np.zeros(len(self), dtype=np.bool_)
        both[near] = True
        worded = worded[(scores[worded] > 0) & ~both[worded]]
        found = np.concatenate([near, worded])
        names = self._named.of(question.ids).columns(found, len(self), planes=3) > 0
        headings, section, path = np.split(names, 3)
        finds = Finds(
            cosine=cosines[found].astype(np.float64),
            bm25=scores[found],
            weights=held.columns(found, len(self)),
            idf=idf,
            headings=headings,
            section=section,
            path=path,
            opens=self._opens[found],
            page=self._page[found],
            twin=self._twin[found],
            nearest=len(near),
            vectors=lambda rows: self._dense[found[rows]],
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

    def _idf(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of terms that so many rows hold."""
        return np.where(counts, np.log1p((len(self) - counts + 0.5) / (counts + 0.5)), 0.0)


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
