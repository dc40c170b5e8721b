"""Hybrid search in one book: dense and BM25 candidates, ranked, scored, assessed."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from quire.embedding.port import Embedder
from quire.errors import EmbedderMismatch
from quire.index.finds import Finds, Question
from quire.index.lexical import asked, term_id
from quire.index.port import Hit, Index
from quire.models import Chunk, Filters, Passage, Retrieval
from quire.reading import Readable, Reader, as_readable
from quire.retrieval.calibration import Calibration, shipped_calibration
from quire.retrieval.confidence import Policy, assess
from quire.retrieval.ranking import Candidate, Ranking, Weights, diversify, rank
from quire.retrieval.spelling import respell, strange_words


@dataclass(frozen=True, slots=True)
class Tuning:
    """Numbers chosen on labelled questions; docs/why.md says what each brings."""

    depth: int = 100
    """Candidates asked of each way of searching."""
    weights: Weights = field(default_factory=Weights)
    reading: Weights = field(default_factory=lambda: Weights(apart=0.0))
    """Where the passages are to be read for an answer: told apart, pages are ranked better and
    their sentences are not."""
    relevance: float = 1.0
    """Trade-off of `diversify`; 1 leaves the ranking alone."""
    assessed: int = 5
    """Passages the confidence looks at, and a reader reads, however many were asked for."""
    spare: int = 20
    """Passages beyond those asked for, which the order of reading may prefer."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is decoded of a search: the best, and what may tell how strange words were meant."""

    ranking: Ranking
    strange: frozenset[str]

    @property
    def rows(self) -> tuple[int, ...]:
        best = self.ranking.rows
        if not self.strange:
            return best
        return *best, *(row for row in self._near if row not in frozenset(best))

    def near(self, hits: Sequence[Hit]) -> list[Hit]:
        """Those of the hits that lie near in meaning."""
        return [hit for row, hit in zip(self.rows, hits, strict=True) if row in self._near]

    @property
    def _near(self) -> range:
        return range(self.ranking.finds.nearest)


@dataclass(frozen=True, slots=True)
class Order:
    """What is read first for a question."""

    place: Callable[[str, Chunk], int]
    """The least is first; among equals the ranking decides."""
    far: Callable[[str], Callable[[Chunk], bool] | None] = lambda _: None
    """What a question looks for in all that was found, where nothing near has the first place."""

    def sort(self, question: str, found: Sequence[Candidate], near: int | None) -> list[Candidate]:
        """The near ones, or all, in order; behind what was looked for far from them."""
        placed = [(self.place(question, each.chunk), each) for each in found[:near]]
        ordered = [each for _, each in sorted(placed, key=lambda pair: pair[0])]
        wanted = self.far(question)
        if near is None or wanted is None or any(place == 0 for place, _ in placed):
            return ordered
        far = (each for each in found[near:] if wanted(each.chunk))
        return [*itertools.islice(far, 1), *ordered]


class Searcher:
    """Finds passages; remembers nothing between calls."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        calibration: Calibration | None = None,
        policy: Policy = "calibrated",
        tuning: Tuning | None = None,
        reader: Reader | None = None,
        order: Order | None = None,
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._calibration = calibration or shipped_calibration(embedder.name)
        self._policy: Policy = policy
        self._tuning = tuning or Tuning()
        self._reader = reader
        self._order = order

    async def retrieve(
        self,
        book_id: str,
        query: str,
        *,
        top_k: int = 5,
        score_threshold: float = 0.0,
        filters: Filters = Filters(),
        literal: bool = False,
        read: bool = False,
    ) -> Retrieval:
        """Passages in rank order, with the confidence over them.

        Chunks with equal text count once. `score_threshold` cuts on the calibrated score. A
        `literal` query isn't looked through for misspelt words. With `read` the reader, if there
        is one, has its say in the confidence.
        """
        meant, ranked = await self._search(
            book_id, query, filters, top_k, literal=literal, read=read
        )
        above = [c for c in ranked if self._score(c) >= score_threshold]
        kept = diversify(above, limit=top_k, relevance=self._tuning.relevance)
        passages = tuple(
            Passage(number=number, chunk=c.chunk, score=self._score(c), cosine=c.cosine)
            for number, c in enumerate(kept, start=1)
        )
        confidence = assess(
            passages,
            [c.vector for c in kept],
            await self.features(meant or query, kept, read=read and self._policy == "calibrated"),
            calibration=self._calibration,
            policy=self._policy,
        )
        return Retrieval(
            query=query, passages=passages, confidence=confidence, filters=filters, meant=meant
        )

    async def candidates(
        self,
        book_id: str,
        query: str,
        *,
        filters: Filters = Filters(),
        depth: int = 0,
        read: bool = False,
    ) -> list[Candidate]:
        """What both ways of searching found, ranked, with what each said; `depth` of it, or all.

        A query with misspelt words is searched again as it was meant. With `read` they are ranked
        as for an answer.
        """
        _, ranked = await self._search(book_id, query, filters, depth, read=read)
        return ranked

    async def _search(
        self,
        book_id: str,
        query: str,
        filters: Filters,
        depth: int,
        *,
        literal: bool = False,
        read: bool,
    ) -> tuple[str | None, list[Candidate]]:
        """The candidates, and the query as it was meant if it was misspelt."""
        stored = await self._index.embedder()
        if stored is None:
            return None, []
        if stored.name != self._embedder.name:
            raise EmbedderMismatch(stored=stored.name, configured=self._embedder.name)
        breadth = max(self._tuning.depth, depth)
        cut = depth if depth and self._tuning.relevance >= 1.0 else None
        order = self._order if read else None
        near = cut + self._tuning.spare if order and cut else cut
        limit = None if order and order.far(query) else near
        weights = self._tuning.reading if read else self._tuning.weights
        ranked = partial(rank, weights=weights, limit=limit)
        choice, hits = await self._find(book_id, query, filters, breadth, ranked)
        meant = None
        if choice.strange and not literal:
            texts = [hit.chunk.markdown for hit in choice.near(hits)]
            meant = respell(query, choice.strange, texts)
        if meant:
            choice, hits = await self._find(book_id, meant, filters, breadth, ranked)
        found = choice.ranking.candidates(hits[: len(choice.ranking.rows)])
        if order:
            found = await asyncio.to_thread(order.sort, meant or query, found, near)
        return meant, found[:cut]

    async def features(
        self, query: str, candidates: Sequence[Candidate], *, read: bool = False
    ) -> dict[str, float]:
        """What the calibrated confidence is computed from, of the best few candidates."""
        assessed = candidates[: self._tuning.assessed]
        features = features_of(query, assessed)
        if read and self._reader and features:
            readings = await self._reader.read(query, [readable(c.chunk) for c in assessed])
            features["answerable"] = max(reading.answerable for reading in readings)
        return features

    async def document(self, book_id: str, parent_doc_id: str) -> list[Chunk]:
        """All chunks of a page in order; empty when there is none."""
        filters = Filters(parent_doc_id=parent_doc_id)
        chunks: list[Chunk] = []
        cursor: str | None = None
        while True:
            page, cursor = await self._index.scroll(book_id, filters, after=cursor)
            chunks += page
            if cursor is None:
                return sorted(chunks, key=lambda chunk: chunk.chunk_index)

    async def context(
        self, book_id: str, chunk_id: str, *, before: int = 0, after: int = 0
    ) -> list[Chunk]:
        """A chunk with its neighbours along the chain, in order; empty when there is none."""
        centre = await self._index.fetch(book_id, [chunk_id])
        if not centre:
            return []
        earlier = await self._walk(book_id, centre[0].prev_chunk_id, before, forward=False)
        later = await self._walk(book_id, centre[0].next_chunk_id, after, forward=True)
        return [*reversed(earlier), centre[0], *later]

    async def _walk(
        self, book_id: str, start: str | None, steps: int, *, forward: bool
    ) -> list[Chunk]:
        found: list[Chunk] = []
        following = start
        while following is not None and len(found) < steps:
            chunk = await self._index.fetch(book_id, [following])
            if not chunk:
                break
            found += chunk
            following = chunk[0].next_chunk_id if forward else chunk[0].prev_chunk_id
        return found

    async def _find(
        self,
        book_id: str,
        query: str,
        filters: Filters,
        breadth: int,
        ranked: Callable[[Finds], Ranking],
    ) -> tuple[_Choice, tuple[Hit, ...]]:
        question = Question.of(query, await self._embedder.embed_query(query))

        def choose(finds: Finds) -> _Choice:
            return _Choice(ranked(finds), strange_words(query, question, finds))

        return await self._index.find(
            book_id, question, filters=filters, limit=breadth, choose=choose
        )

    def _score(self, candidate: Candidate) -> float:
        return self._calibration.relevance.probability({"rank_score": candidate.score})


def features_of(query: str, candidates: Sequence[Candidate]) -> dict[str, float]:
    """What a retrieval says of itself.

    Similarity alone takes a question about something else for answerable when it sounds like
    the book; how many of its terms the passages hold at all tells the two apart.
    """
    ids = [term_id(term) for term in asked(query)]
    if not candidates or not ids:
        return {}
    held = [_held(candidate).intersection(ids) for candidate in candidates]
    return {
        "top_score": max(c.score for c in candidates),
        "top_cosine": max(c.cosine for c in candidates),
        "coverage": len(frozenset[int]().union(*held)) / len(ids),
        "best_coverage": max(map(len, held)) / len(ids),
    }


def _held(candidate: Candidate) -> frozenset[int]:
    """The terms of the candidate, headings included."""
    return frozenset() if candidate.terms is None else frozenset(candidate.terms.ids.tolist())


def readable(chunk: Chunk) -> Readable:
    """The chunk as a reader takes it."""
    return as_readable(chunk.markdown, chunk.page_title, chunk.section_title)
