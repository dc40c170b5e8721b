"""What a store found for a question, as columns: a row per chunk, a column per term.

A ranking needs a handful of numbers of two hundred chunks and the text of five. So a store
hands it the numbers, and decodes only what the ranking chose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from quire.index.lexical import asked, term_id, terms
from quire.index.port import Candidates, Hit, Index, SparseVector, Terms
from quire.models import Filters

_CONDITION = 1e-4
"""Terms that occur only together can't be told apart: they share what they are worth."""
_NOT_NAMED = re.compile(r"[/_.-]+|(?<![^/_.-])\d+(?![^/_.-])")
"""What stands between the names in a path, and numbers that are no part of one."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is looked for: a vector, and the distinct terms with their ids."""

    dense: NDArray[np.float32]
    terms: tuple[str, ...]
    ids: NDArray[np.uint32]

    @classmethod
    def of(cls, text: str, dense: NDArray[np.float32]) -> Question:
        """The question in these words."""
        found = asked(text)
        return cls(dense, found, np.array([term_id(term) for term in found], dtype=np.uint32))

    @property
    def bm25(self) -> SparseVector:
        """The terms as a store takes them, each once."""
        ids = tuple(dict.fromkeys(map(int, self.ids)))
        return SparseVector(ids, (1.0,) * len(ids))


@dataclass(frozen=True, slots=True, eq=False)
class Finds:
    """The found chunks, those found densely first and best first."""

    cosine: NDArray[np.float64]
    bm25: NDArray[np.float64]
    """Their scores, also of those that only the dense search found."""
    weights: NDArray[np.float64]
    """BM25's weight of each term in each chunk, without the IDF."""
    idf: NDArray[np.float64]
    """Of each term in the book; 0 if no found chunk holds it."""
    headings: NDArray[np.bool_]
    """Which terms the page's title and the headings above the chunk name."""
    section: NDArray[np.bool_]
    """Which terms the chunk's own heading names."""
    path: NDArray[np.bool_]
    """Which terms the page's folders and file name hold."""
    opens: NDArray[np.bool_]
    """Whether the page begins with it."""
    page: NDArray[np.int64]
    """The same number for chunks of one page."""
    twin: NDArray[np.int64]
    """The same number for chunks of equal text."""
    nearest: int
    """How many the dense search found: the first rows."""
    vectors: Callable[[NDArray[np.intp]], NDArray[np.float32]]
    """The vectors of some of them; fetched only if they are asked for."""

    def __len__(self) -> int:
        return len(self.cosine)


class Choice(Protocol):
    """What a ranking makes of the finds."""

    @property
    def rows(self) -> Sequence[int]:
        """The finds worth decoding, best first."""
        ...


C = TypeVar("C", bound=Choice)
Choose = Callable[[Finds], C]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """What finds are made of: all that a ranking asks of a chunk, and not its text."""

    id: str
    dense: NDArray[np.float32]
    terms: Terms
    headings: frozenset[int]
    """The terms of the page's title and of the headings above the chunk."""
    section: frozenset[int]
    """The terms of the chunk's own heading."""
    path: frozenset[int]
    """The terms of the page's folders and file name."""
    opens: bool
    """Whether the page begins with it."""
    page: str
    text: str
    """The hash of its text."""


def choose_from(
    found: Candidates, question: Question, choose: Choose[C]
) -> tuple[C, tuple[Hit, ...]]:
    """The choice among decoded hits, and what was chosen."""
    hits = {hit.chunk.id: hit for hit in (*found.bm25, *found.dense)}
    finds, ids = columns(
        [hit.chunk.id for hit in found.dense],
        {hit.chunk.id: hit.score for hit in found.bm25},
        {chunk_id: _row(hit) for chunk_id, hit in hits.items()},
        question,
    )
    choice = choose(finds)
    return choice, tuple(hits[ids[row]] for row in choice.rows)


async def search_and_choose(
    index: Index,
    book_id: str,
    question: Question,
    *,
    filters: Filters,
    limit: int,
    choose: Choose[C],
) -> tuple[C, tuple[Hit, ...]]:
    """`Index.find` by way of `Index.search`, for a store that can't do better."""
    found = await index.search(
        book_id,
        dense=question.dense,
        bm25=question.bm25,
        filters=filters,
        limit=limit,
        with_vectors=True,
    )
    return choose_from(found, question, choose)


def columns(
    dense: Sequence[str], bm25: Mapping[str, float], rows: Mapping[str, Row], question: Question
) -> tuple[Finds, list[str]]:
    """The finds of both searches (best first, `bm25` with its scores), and their ids.

    A store multiplies by the IDF of the book and doesn't tell it. But it tells the scores of its
    hits, which are sums over the terms they hold: with the hits' own term weights the IDF
    follows by least squares (within a hundredth on nine corpora). So the chunks that only the
    dense search found have a BM25 score too, and a rare word counts more than a common one.
    """
    ids = list(dict.fromkeys((*dense, *bm25)))
    found = [rows[each] for each in ids]
    weights = _weights(question.ids, found)
    known = np.array([bm25.get(each, np.nan) for each in ids], dtype=np.float64)
    scored = ~np.isnan(known)
    idf = _idf(weights[scored], known[scored])
    none = np.zeros((0, len(question.dense)), np.float32)
    vectors = np.stack([row.dense for row in found]) if found else none
    finds = Finds(
        cosine=(vectors @ question.dense).astype(np.float64),
        bm25=np.where(scored, known, weights @ idf),
        weights=weights,
        idf=idf,
        headings=_named(question.ids, [row.headings for row in found]),
        section=_named(question.ids, [row.section for row in found]),
        path=_named(question.ids, [row.path for row in found]),
        opens=np.array([row.opens for row in found], np.bool_),
        page=_numbered([row.page for row in found]),
        twin=_numbered([row.text for row in found]),
        nearest=len(dense),
        vectors=vectors.__getitem__,
    )
    return finds, ids


@lru_cache(maxsize=32768)
def ids_of(titles: tuple[str, ...]) -> frozenset[int]:
    """The ids of these titles' terms."""
    return frozenset(term_id(term) for term in terms(" ".join(titles)))


def path_ids(source_file: str) -> frozenset[int]:
    """The ids of the words that the page's folders and file are called by; numbers only order."""
    stem = source_file.rpartition(".")[0] or source_file
    return ids_of((_NOT_NAMED.sub(" ", stem),))


def _row(hit: Hit) -> Row:
    chunk = hit.chunk
    assert hit.dense is not None, "ranking needs the vectors of the hits"
    return Row(
        id=chunk.id,
        dense=hit.dense,
        terms=hit.terms or Terms.of((), ()),
        headings=ids_of((chunk.page_title, *chunk.section_path)),
        section=ids_of((chunk.section_title or chunk.page_title,)),
        path=path_ids(chunk.source_file),
        opens=chunk.chunk_index == 0,
        page=chunk.parent_doc_id,
        text=chunk.content_hash,
    )


def _numbered(keys: Sequence[str]) -> NDArray[np.int64]:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _named(ids: NDArray[np.uint32], titles: Sequence[frozenset[int]]) -> NDArray[np.bool_]:
    named = np.zeros((len(titles), len(ids)), dtype=np.bool_)
    asked: list[int] = ids.tolist()
    for row, title in enumerate(titles):
        if not title.isdisjoint(asked):
            named[row] = [term in title for term in asked]
    return named


def _weights(ids: NDArray[np.uint32], found: Sequence[Row]) -> NDArray[np.float64]:
    """The finds' weights of the asked terms: a row per find, a column per term."""
    weights = np.zeros((len(found), len(ids)))
    if not len(ids) or not found:
        return weights
    order = np.argsort(ids)
    all_ids = np.concatenate([row.terms.ids for row in found])
    values = np.concatenate([row.terms.weights for row in found])
    places = np.searchsorted(ids[order], all_ids).clip(max=len(ids) - 1)
    matches = ids[order][places] == all_ids
    rows = np.repeat(np.arange(len(found)), [len(row.terms.ids) for row in found])
    weights[rows[matches], order[places[matches]]] = values[matches]
    return weights


def _idf(weights: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each term must be worth for the scores to be what they are; 0 if no hit holds it."""
    solution, *_ = np.linalg.lstsq(weights, scores, rcond=_CONDITION)
    return np.maximum(solution.astype(np.float64), 0.0)
