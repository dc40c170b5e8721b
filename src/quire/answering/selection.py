"""Answers from the reader's selection alone: no index is asked, offsets are the selection's."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from quire.answering import lexicon
from quire.answering.citations import SELECTION_TITLE, SELECTION_URL
from quire.answering.extraction import Extract, Extractor
from quire.answering.ports import Excerpt
from quire.answering.question import Question
from quire.answering.verification import Proven, Verifier
from quire.embedding.port import Embedder
from quire.models import Chunk, Confidence, ConfidenceLevel, Passage
from quire.reading import Reader
from quire.retrieval.calibration import Logistic

_READ: Final = Logistic(bias=0.71, weights={"answerable": 0.588})
"""Refuses below log-odds of -2.3: 19 of 20 questions about another text, 1 in 20 it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionReading:
    """What the selection says to the question; `proven` is empty if it doesn't answer."""

    passages: tuple[Passage, ...]
    confidence: Confidence
    proven: tuple[Proven, ...]


class SelectionReader:
    """Reads a selection the way passages are read."""

    def __init__(self, *, embedder: Embedder | None, reader: Reader | None) -> None:
        self._extractor = Extractor(embedder=embedder, reader=reader, terse=True)

    async def read(self, question: Question) -> SelectionReading:
        """The answering sentences of the selection, and how sure they are."""
        text = question.selected_text or ""
        excerpt = Excerpt(number=1, text=text, title=SELECTION_TITLE, score=1.0)
        extract = await self._extractor.extract(question.text, [excerpt])
        similarity = max(0.0, min(1.0, extract.similarity))
        confidence = _confidence(similarity, _probability(extract), answered=bool(extract.segments))
        passage = Passage(
            number=1, chunk=as_chunk(question), score=confidence.probability, cosine=similarity
        )
        proven: list[Proven] = []
        if confidence.should_answer:
            verifier = Verifier([passage], question=question.text, base_url=question.base_url)
            for segment in extract.segments:
                proven += await verifier.verify(segment)
        return SelectionReading(passages=(passage,), confidence=confidence, proven=tuple(proven))


def _probability(extract: Extract) -> float:
    """That the selection answers, by the reader.

    Without one: from the best sentence's likeness and the share of the question's words it holds.
    """
    if extract.answerable is not None:
        return _READ.probability({"answerable": extract.answerable})
    likeness = max(0.0, min(1.0, extract.similarity))
    return min(1.0, max(0.0, 0.55 * likeness / 0.6 + 0.45 * extract.coverage))


def _confidence(similarity: float, probability: float, *, answered: bool) -> Confidence:
    level: ConfidenceLevel = "insufficient"
    if answered and probability >= 0.35:
        level = "high" if probability >= 0.75 else "medium" if probability >= 0.5 else "low"
    return Confidence(
        average_similarity=similarity,
        min_similarity=similarity,
        max_similarity=similarity,
        num_chunks=1,
        chunk_diversity=0.0,
        probability=round(probability, 4),
        level=level,
        should_answer=level != "insufficient",
    )


def as_chunk(question: Question) -> Chunk:
    """The selection as a chunk of its own, so that the same checks hold; it is never stored."""
    text = question.selected_text or ""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Chunk(
        id=f"selection:{digest[:16]}",
        text=text,
        book_id=question.book_id,
        source_file=SELECTION_URL,
        module="",
        chapter=0,
        lesson=0,
        page_title=SELECTION_TITLE,
        section_title=SELECTION_TITLE,
        section_path=(),
        breadcrumb=SELECTION_TITLE,
        source_url=SELECTION_URL,
        language="",
        hardware_tier=1,
        proficiency_level="A2",
        layer="L1",
        char_start=0,
        char_end=len(text),
        line_start=1,
        line_end=1 + text.count("\n"),
        parent_doc_id="",
        chunk_index=0,
        total_chunks=1,
        prev_chunk_id=None,
        next_chunk_id=None,
        content_hash=digest,
        source_file_hash=digest,
        embedded_hash=digest,
        word_count=len(lexicon.words(text)),
        token_count=0,
        char_count=len(text),
    )
