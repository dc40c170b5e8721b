"""One turn's state: what the caller bound, what was retrieved, why the run must stop.

The agent's tool works on this object and can't reach around it: book, filters, top_k and
threshold are the caller's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from quire.answering import lexicon
from quire.answering.certainty import at_most_low
from quire.answering.intent import read_intent
from quire.answering.parts import two_parts
from quire.answering.ports import Retriever
from quire.answering.question import Question
from quire.errors import QuireError
from quire.models import Confidence, Passage, Retrieval

NO_CONFIDENCE = Confidence(
    average_similarity=0.0,
    min_similarity=0.0,
    max_similarity=0.0,
    num_chunks=0,
    chunk_diversity=0.0,
    probability=0.0,
    level="insufficient",
    should_answer=False,
)


@dataclass(kw_only=True)
class Turn:
    """The run context of the agent; one per question, never shared."""

    question: Question
    standalone: str
    """The question with follow-ups resolved; the refusal is decided on it and its parts alone."""
    retriever: Retriever
    primary: Retrieval | None = None
    passages: list[Passage] = field(default_factory=list[Passage])
    """Everything retrieved, numbered once for the whole turn."""
    searches: list[str] = field(default_factory=list[str])
    failure: QuireError | None = None

    @property
    def asked(self) -> str:
        """The question without slips of the finger, once it was searched for."""
        return self.primary.asked if self.primary else self.standalone

    @property
    def confidence(self) -> Confidence:
        """The confidence over the passages of the question itself."""
        return self.primary.confidence if self.primary else NO_CONFIDENCE

    @property
    def must_stop(self) -> bool:
        """Whether the model must not be called again: a refusal or a failure is decided."""
        if self.failure is not None:
            return True
        return self.primary is not None and not (
            self.primary.passages and self.primary.confidence.should_answer
        )

    async def ensure_primary(self) -> Retrieval:
        """Retrieve for the question itself, once, whatever query the model may prefer.

        Where the book doesn't answer the whole of a question that asks two things, what it surely
        answers of it counts.
        """
        if self.primary is None:
            self.primary = await self._search(self.standalone)
            if self.must_stop:
                self.primary = await self._part() or self.primary
            if not self._names_known():
                self.primary = replace(self.primary, confidence=at_most_low(self.confidence))
            self._number(self.primary)
        return self.primary

    def _names_known(self) -> bool:
        """Whether each name of the question stands in a passage, or is the book's own."""
        names = read_intent(self.asked).names
        known = [self.question.book_id, self.question.base_url or ""]
        for passage in self.primary.passages if names and self.primary else ():
            chunk = passage.chunk
            known += [chunk.page_title, *chunk.section_path, chunk.markdown]
        return not names or names <= lexicon.held(names, " ".join(known))

    async def _part(self) -> Retrieval | None:
        """The retrieval for the part of the question that is surely answered, if one is."""
        found = [await self._search(part.query) for part in two_parts(self.standalone) or ()]
        best = max(found, key=lambda each: each.confidence.probability, default=None)
        return best if best and best.confidence.level in ("medium", "high") else None

    async def search(
        self, query: str, top_k: int | None = None, threshold: float | None = None
    ) -> list[Passage]:
        """Passages for a query of the model's: the question's own first, then what it adds.

        The model may narrow the caller's bounds but not widen them.
        """
        primary = await self.ensure_primary()
        if self.must_stop or self.is_question(query):
            return self._numbered(primary)
        found = await self._search(query, top_k=top_k, threshold=threshold)
        self._number(found)
        return self._numbered(primary, found)

    def is_question(self, query: str) -> bool:
        """Whether the model asks for nothing but the question itself."""
        return _plain(query) == _plain(self.standalone)

    async def _search(
        self, query: str, *, top_k: int | None = None, threshold: float | None = None
    ) -> Retrieval:
        bound = self.question
        self.searches.append(query)
        return await self.retriever.retrieve(
            bound.book_id,
            query,
            top_k=min(top_k or bound.top_k, bound.top_k),
            score_threshold=max(threshold or 0.0, bound.score_threshold or 0.0),
            filters=bound.filters,
        )

    def _number(self, retrieval: Retrieval) -> None:
        known = {passage.chunk.id for passage in self.passages}
        for passage in retrieval.passages:
            if passage.chunk.id not in known and passage.chunk.book_id == self.question.book_id:
                known.add(passage.chunk.id)
                self.passages.append(
                    Passage(
                        number=len(self.passages) + 1,
                        chunk=passage.chunk,
                        score=passage.score,
                        cosine=passage.cosine,
                    )
                )

    def _numbered(self, *retrievals: Retrieval) -> list[Passage]:
        wanted = {passage.chunk.id for found in retrievals for passage in found.passages}
        return [passage for passage in self.passages if passage.chunk.id in wanted]


def result_json(passages: list[Passage], query: str) -> str:
    """The tool's answer, in the words of its contract."""
    results = [
        {
            "chunk_text": passage.chunk.markdown,
            "page_title": passage.chunk.page_title,
            "section_heading": passage.chunk.section_title,
            "source_url": passage.chunk.source_url,
            "similarity_score": round(min(max(passage.score, 0.0), 1.0), 4),
            "rank": passage.number,
            **({"opening": passage.chunk.opening} if passage.chunk.opening else {}),
        }
        for passage in passages
    ]
    return json.dumps(
        {"results": results, "total_results": len(results), "query": query}, ensure_ascii=False
    )


def error_json(message: str, query: str) -> str:
    """The tool's answer when it can't search."""
    return json.dumps({"error": message, "query": query}, ensure_ascii=False)


def _plain(query: str) -> str:
    return " ".join(query.lower().split()).strip(" ?.!")
