"""What the tools return."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from quire.models import Answer, Chunk, Passage, Retrieval


class Found(BaseModel):
    """A passage to fetch."""

    id: str
    title: str
    url: str


class FoundList(BaseModel):
    """What `search` returns."""

    results: list[Found]

    @classmethod
    def of(cls, retrieval: Retrieval) -> FoundList:
        """The passages by name."""
        return cls(
            results=[
                Found(id=p.chunk.id, title=title_of(p.chunk), url=p.chunk.source_url)
                for p in retrieval.passages
            ]
        )


class Fetched(BaseModel):
    """What `fetch` returns."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]

    @classmethod
    def of_chunk(cls, chunk: Chunk) -> Fetched:
        """A passage with where it stands."""
        place = ("source_file", "line_start", "line_end", "char_start", "char_end", "breadcrumb")
        return cls(
            id=chunk.id,
            title=title_of(chunk),
            text=chunk.markdown,
            url=chunk.source_url,
            metadata={name: getattr(chunk, name) for name in (*place, "parent_doc_id")},
        )


class DocPassage(BaseModel):
    """A passage with its text."""

    id: str
    title: str
    url: str
    text: str
    score: float = Field(description="Calibrated relevance, 0–1.")

    @classmethod
    def of(cls, passage: Passage) -> DocPassage:
        """A passage as `search_docs` shows it."""
        chunk = passage.chunk
        return cls(
            id=chunk.id,
            title=title_of(chunk),
            url=chunk.source_url,
            text=chunk.markdown,
            score=round(passage.score, 6),
        )


class DocPassageList(BaseModel):
    """What `search_docs` returns."""

    results: list[DocPassage]


class Proof(BaseModel):
    """A source of an answer; the quote stands word for word in the book."""

    number: int
    title: str
    url: str
    quote: str
    source_file: str
    line_start: int


class CitedAnswer(BaseModel):
    """What `ask` returns."""

    answer: str
    should_answer: bool = Field(description="False when the book doesn't say.")
    confidence: float
    sources: list[Proof]

    @classmethod
    def of(cls, answer: Answer) -> CitedAnswer:
        """The answer with its sources."""
        return cls(
            answer=answer.text,
            should_answer=answer.should_answer,
            confidence=round(answer.confidence.probability, 6),
            sources=[
                Proof(
                    number=c.number,
                    title=c.page_title,
                    url=c.source_url,
                    quote=c.quote,
                    source_file=c.source_file,
                    line_start=c.line_start,
                )
                for c in answer.citations
            ],
        )


def title_of(chunk: Chunk) -> str:
    """Page and section."""
    return " › ".join(dict.fromkeys(filter(None, (chunk.page_title, chunk.section_title))))
