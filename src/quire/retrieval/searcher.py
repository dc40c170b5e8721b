"""Hybrid search in one book: dense and BM25 candidates, fused, scored, assessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.embedding.port import Embedder
from quire.errors import EmbedderMismatch
from quire.index.lexical import Bm25
from quire.index.port import Candidates, Hit, Index
from quire.models import Chunk, Filters, Passage, Retrieval
from quire.retrieval.calibration import Calibration, shipped_calibration
from quire.retrieval.confidence import Policy, assess
from quire.retrieval.fusion import fuse


@dataclass(frozen=True, slots=True)
class Tuning:
    """Numbers chosen on labelled questions; docs/why.md says what each brings."""

    depth: int = 50
    """Candidates asked of each way of searching."""
    rrf_k: float = 10.0
    dense_weight: float = 1.0
    bm25_weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk found by at least one way, with what each way said of it."""

    chunk: Chunk
    vector: NDArray[np.float32]
    cosine: float
    bm25: float
    fused: float


class Searcher:
    """Finds passages; remembers nothing between calls."""

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        calibration: Calibration | None = None,
        policy: Policy = "calibrated",
        tuning: Tuning = Tuning(),
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._calibration = calibration or shipped_calibration(embedder.name)
        self._policy: Policy = policy
        self._tuning = tuning
        self._lexical = Bm25()

    async def retrieve(
        self,
        book_id: str,
        query: str,
        *,
        top_k: int = 5,
        score_threshold: float = 0.0,
        filters: Filters = Filters(),
    ) -> Retrieval:
        """Passages in rank order, with the confidence over them.

        Chunks with equal text count once. `score_threshold` cuts on the calibrated score.
        """
        found = await self._candidates(book_id, query, filters, top_k)
        kept = [
            (candidate, score)
            for candidate in found
            if (score := self._score(candidate)) >= score_threshold
        ][:top_k]
        passages = tuple(
            Passage(number=number, chunk=c.chunk, score=score, cosine=c.cosine)
            for number, (c, score) in enumerate(kept, start=1)
        )
        confidence = assess(
            passages,
            [c.vector for c, _ in kept],
            features_of([c for c, _ in kept]),
            calibration=self._calibration,
            policy=self._policy,
        )
        return Retrieval(query=query, passages=passages, confidence=confidence, filters=filters)

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

    async def _candidates(
        self, book_id: str, query: str, filters: Filters, top_k: int
    ) -> list[Candidate]:
        dense = await self._embedder.embed_query(query)
        stored = await self._index.embedder()
        if stored is None:
            return []
        if stored.name != self._embedder.name:
            raise EmbedderMismatch(stored=stored.name, configured=self._embedder.name)
        found = await self._index.search(
            book_id,
            dense=dense,
            bm25=self._lexical.query(query),
            filters=filters,
            limit=max(self._tuning.depth, top_k),
            with_vectors=True,
        )
        return self._fused(found, dense)

    def _fused(self, found: Candidates, query: NDArray[np.float32]) -> list[Candidate]:
        tuning = self._tuning
        hits: dict[str, Hit] = {}
        for hit in (*found.dense, *found.bm25):
            hits.setdefault(hit.chunk.id, hit)
        bm25 = {hit.chunk.id: hit.score for hit in found.bm25}
        fused = fuse(
            [
                (tuning.dense_weight, [hit.chunk.id for hit in found.dense]),
                (tuning.bm25_weight, [hit.chunk.id for hit in found.bm25]),
            ],
            k=tuning.rrf_k,
        )
        seen: set[str] = set()
        candidates: list[Candidate] = []
        for chunk_id, score in fused:
            hit = hits[chunk_id]
            if hit.chunk.content_hash in seen:
                continue
            seen.add(hit.chunk.content_hash)
            assert hit.dense is not None
            candidates.append(
                Candidate(
                    chunk=hit.chunk,
                    vector=hit.dense,
                    cosine=float(query @ hit.dense),
                    bm25=bm25.get(chunk_id, 0.0),
                    fused=score,
                )
            )
        return candidates

    def _score(self, candidate: Candidate) -> float:
        return self._calibration.relevance.probability({"cosine": candidate.cosine})


def features_of(candidates: Sequence[Candidate]) -> dict[str, float]:
    """What the calibrated confidence is computed from."""
    cosines = sorted((c.cosine for c in candidates), reverse=True)
    if not cosines:
        return {}
    return {
        "top_cosine": cosines[0],
        "mean_cosine": sum(cosines) / len(cosines),
        "cosine_gap": cosines[0] - cosines[-1],
    }
