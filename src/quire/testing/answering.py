"""Fakes for answering: a retriever over given chunks, a scripted model, a hashing embedder."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.answering import lexicon
from quire.errors import QuireError
from quire.models import Chunk, Confidence, ConfidenceLevel, Filters, Passage, Retrieval


def make_chunk(
    text: str,
    *,
    source: str | None = None,
    source_file: str = "intro.md",
    page_title: str = "Introduction",
    section_title: str | None = "Basics",
    book_id: str = "book",
    source_url: str | None = None,
    **changes: Any,
) -> Chunk:
    """A chunk of `source` (default: the text itself), with true offsets and lines."""
    source = text if source is None else source
    start = source.index(text)
    digest = hashlib.sha256(f"{source_file}:{start}:{text}".encode()).hexdigest()
    line = 1 + source.count("\n", 0, start)
    chunk = Chunk(
        id=digest[:32],
        text=text,
        book_id=book_id,
        source_file=source_file,
        module="module-1",
        chapter=1,
        lesson=1,
        page_title=page_title,
        section_title=section_title,
        section_path=(page_title, section_title) if section_title else (page_title,),
        breadcrumb=f"Chapter 1 > {page_title}",
        source_url=source_url or f"https://book.example/docs/{source_file.removesuffix('.md')}",
        language="en",
        hardware_tier=1,
        proficiency_level="A2",
        layer="L1",
        char_start=start,
        char_end=start + len(text),
        line_start=line,
        line_end=line + text.count("\n"),
        parent_doc_id="parent",
        chunk_index=0,
        total_chunks=1,
        prev_chunk_id=None,
        next_chunk_id=None,
        content_hash=digest,
        source_file_hash=digest,
        embedded_hash=digest,
        word_count=len(text.split()),
        token_count=len(text.split()),
        char_count=len(text),
    )
    return replace(chunk, **changes) if changes else chunk


def make_confidence(probability: float, count: int = 1, top: float | None = None) -> Confidence:
    """Levels at .85/.6/.35; below that, the refusal."""
    level: ConfidenceLevel = "insufficient"
    if count and probability >= 0.35:
        level = "high" if probability >= 0.85 else "medium" if probability >= 0.6 else "low"
    top = probability if top is None else top
    return Confidence(
        average_similarity=top,
        min_similarity=top,
        max_similarity=top,
        num_chunks=count,
        chunk_diversity=0.0,
        probability=probability,
        level=level,
        should_answer=level != "insufficient",
    )


@dataclass
class FakeRetriever:
    """Ranks its chunks by shared words; records every call; fails when told to."""

    chunks: Sequence[Chunk]
    probability: float | None = None
    """Fixed confidence; by default the best chunk's share of the question's words."""
    failure: QuireError | None = None
    meant: dict[str, str] = field(default_factory=dict[str, str])
    """Misspelt queries with what they mean."""
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    async def retrieve(
        self,
        book_id: str,
        query: str,
        *,
        top_k: int = 5,
        score_threshold: float = 0.0,
        filters: Filters = Filters(),
        literal: bool = False,
    ) -> Retrieval:
        """The chunks of the book that share most words with the query."""
        self.calls.append(
            {
                "book_id": book_id,
                "query": query,
                "top_k": top_k,
                "score_threshold": score_threshold,
                "filters": filters,
                "literal": literal,
            }
        )
        if self.failure is not None:
            raise self.failure
        wanted = lexicon.content_stems(query)
        scored = sorted(
            (
                (lexicon.coverage(wanted, _stems(chunk), frozenset()), -i, chunk)
                for i, chunk in enumerate(self.chunks)
                if chunk.book_id == book_id
                and (not filters.source_file or chunk.source_file in filters.source_file)
            ),
            key=lambda entry: entry[:2],
            reverse=True,
        )
        kept = [(score, chunk) for score, _, chunk in scored if score >= score_threshold][:top_k]
        passages = tuple(
            Passage(number=i, chunk=chunk, score=score, cosine=score)
            for i, (score, chunk) in enumerate(kept, 1)
        )
        top = passages[0].score if passages else 0.0
        probability = top if self.probability is None else self.probability
        confidence = make_confidence(probability, len(passages), top)
        return Retrieval(
            query=query,
            passages=passages,
            confidence=confidence,
            filters=filters,
            meant=None if literal else self.meant.get(query),
        )


def _stems(chunk: Chunk) -> frozenset[str]:
    return lexicon.content_stems(f"{chunk.page_title} {chunk.section_title or ''} {chunk.text}")


class WordEmbedder:
    """Vectors of hashed word stems: texts that share words are near. Deterministic."""

    name = "words-256"
    dimension = 256
    max_tokens = 256

    def count_tokens(self, text: str) -> int:
        """Words, as good as any other unit."""
        return len(text.split())

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text; in a thread, as the real ones."""
        return await asyncio.to_thread(lambda: np.stack([self._vector(text) for text in texts]))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question, as of any text."""
        return self._vector(text)

    async def close(self) -> None:
        """Nothing to free."""

    def _vector(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in lexicon.content_stems(text):
            slot = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
            vector[slot % self.dimension] += 1.0
        norm = float(np.linalg.norm(vector))
        return vector / norm if norm else vector


def draft_json(*segments: tuple[str, list[int]]) -> str:
    """A well-formed draft."""
    return json.dumps(
        {"segments": [{"text": text, "passages": numbers} for text, numbers in segments]}
    )
