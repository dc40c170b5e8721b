"""Questions and answers in the older shape of `/chat/run`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from quire.api.schemas.fields import SNIPPET, BookId, Request, SessionId, Words, unit
from quire.models import Answer


class RunRequest(Request):
    """A question in the older shape, with its narrower limits."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"message": "How do ROS 2 nodes communicate?"}]},
    )

    message: Words = Field(min_length=1, max_length=1000)
    book_id: BookId | None = None
    session_id: SessionId | None = None
    stream: bool = False
    top_k: int = Field(default=5, ge=1, le=10)
    similarity_threshold: float = Field(
        default=0.7, ge=0.0, le=1.0, description="Least calibrated relevance of a passage."
    )


class RunSource(BaseModel):
    """A cited passage in the older shape."""

    chunk_text: str = Field(max_length=SNIPPET)
    similarity_score: float = Field(ge=0.0, le=1.0)
    chapter: str
    section: str
    url: str
    chunk_index: int


class RunResponse(BaseModel):
    """An answer in the older shape."""

    response: str
    confidence: float = Field(ge=0.0, le=1.0)
    sources: list[RunSource]
    session_id: str
    timestamp: datetime
    confidence_level: Literal["high", "medium", "low", "insufficient"]
    should_answer: bool

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """The older wire form of an answer."""
        return cls(
            response=answer.text,
            confidence=unit(answer.confidence.probability),
            sources=[
                RunSource(
                    chunk_text=citation.chunk_text[:SNIPPET],
                    similarity_score=unit(citation.score),
                    chapter=citation.chapter,
                    section=citation.section_heading,
                    url=citation.source_url,
                    chunk_index=citation.chunk_index,
                )
                for citation in answer.citations
            ],
            session_id=answer.session_id or "",
            timestamp=answer.created_at,
            confidence_level=answer.confidence.level,
            should_answer=answer.should_answer,
        )
