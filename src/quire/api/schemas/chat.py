"""Questions and answers: `/chat` and its stream."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

from quire.api.schemas.fields import SNIPPET, BookId, FilterValue, Request, SessionId, Words, unit
from quire.conversations import Exchange
from quire.models import Answer, Citation, SelectionSource
from quire.wiring import SelectionClaim


class SelectionPlace(Request):
    """Where a selection stands: `source_file` with offsets in it, or the page that shows it."""

    source_file: str | None = Field(
        default=None, max_length=4096, description="A file of the book; the text must stand there."
    )
    page_url: str | None = Field(
        default=None,
        max_length=4096,
        description="A page of the book's site; it must hold the words. Offsets are the page's.",
    )
    char_start: int = Field(ge=0, le=2**31 - 1, description="In code points.")
    char_end: int = Field(ge=0, le=2**31 - 1)

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.source_file is None) == (self.page_url is None):
            raise ValueError("either source_file or page_url is required")
        return self

    def claim(self) -> SelectionClaim:
        """The library's word for it."""
        return SelectionClaim(**self.model_dump())


class SelectionSourceView(BaseModel):
    """Where the selection stands in the book; checked against the stored source."""

    source_file: str
    source_url: str
    page_title: str
    section_heading: str
    char_start: int
    char_end: int
    line_start: int
    line_end: int

    @classmethod
    def of(cls, source: SelectionSource) -> Self:
        """The wire form of a verified place."""
        return cls(**asdict(source))


class ChatRequest(Request):
    """A question to the book, or to a text the reader selected."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"query": "How do ROS 2 nodes communicate?"},
                {
                    "query": "What does this mean?",
                    "mode": "selected_text",
                    "selected_text": "A topic is a named bus over which nodes exchange messages.",
                },
            ]
        },
    )

    query: Words = Field(
        min_length=1,
        max_length=2000,
        validation_alias=AliasChoices("query", "message"),
        description="The question (also accepted as `message`).",
    )
    book_id: BookId | None = Field(
        default=None, description="Which book to ask; may be left out when there is only one."
    )
    session_id: SessionId | None = Field(
        default=None, description="UUID that groups the turns of one conversation."
    )
    mode: Literal["general", "selected_text"] = Field(
        default="general", description="Answer from the book, or from `selected_text` alone."
    )
    selected_text: str | None = Field(
        default=None, max_length=10_000, description="The text that was selected."
    )
    top_k: int = Field(default=5, ge=1, le=20, description="Passages to retrieve.")
    score_threshold: float | None = Field(
        default=None,
        ge=0.0,
        le=1.0,
        validation_alias=AliasChoices("score_threshold", "similarity_threshold"),
        description="Least calibrated relevance of a passage (also `similarity_threshold`).",
    )
    filters: dict[str, FilterValue] | None = Field(
        default=None,
        description="Narrow the search: `source_url`, `page_title`, `section_heading`, `module`, "
        "`hardware_tier` (this or lower), `chapter_min`, `chapter_max`, `lesson`, "
        "`proficiency_levels`, `layer`, `parent_doc_id`. A list means any of; all must hold.",
    )
    selection: SelectionPlace | None = Field(
        default=None, description="Where `selected_text` stands; checked against the stored source."
    )
    stream: bool = Field(default=False, description="Answer as server-sent events.")

    @model_validator(mode="after")
    def _selection_present(self) -> Self:
        if self.mode == "selected_text" and not (self.selected_text or "").strip():
            raise ValueError("selected_text is required when mode is 'selected_text'")
        return self


class SourceCitation(BaseModel):
    """Where a sentence of the answer stands in the book."""

    source_url: str = Field(description="Address of the section, or `selected_text`.")
    page_title: str
    section_heading: str
    chunk_text: str = Field(max_length=SNIPPET, description="Start of the passage.")
    relevance_score: float = Field(ge=0.0, le=1.0, description="Calibrated relevance.")
    number: int = Field(description="As in the answer's `[1]`.")
    chunk_id: str | None
    source_file: str = Field(description="Path relative to the book's folder.")
    quote: str = Field(description="Stands character for character at the offsets given.")
    char_start: int = Field(ge=0)
    char_end: int = Field(ge=0)
    line_start: int = Field(ge=1)
    line_end: int = Field(ge=1)
    highlight: tuple[int, int] | None = Field(
        default=None, description="The exact answer inside the quote."
    )
    cosine: float

    @classmethod
    def of(cls, citation: Citation) -> Self:
        """The wire form of a citation."""
        return cls(
            source_url=citation.source_url,
            page_title=citation.page_title,
            section_heading=citation.section_heading,
            chunk_text=citation.chunk_text[:SNIPPET],
            relevance_score=unit(citation.score),
            number=citation.number,
            chunk_id=citation.chunk_id,
            source_file=citation.source_file,
            quote=citation.quote,
            char_start=citation.char_start,
            char_end=citation.char_end,
            line_start=citation.line_start,
            line_end=citation.line_end,
            highlight=citation.highlight,
            cosine=citation.cosine,
        )


class AnswerSentence(BaseModel):
    """One sentence of the answer and the numbers of the sources that prove it."""

    text: str
    citations: list[int]


class SuggestedSection(BaseModel):
    """A nearby section, offered when the book doesn't answer."""

    title: str
    source_url: str


class ResponseMetadata(BaseModel):
    """How the answer was made."""

    query_time_ms: float
    chunks_retrieved: int
    model: str
    tokens_used: int = 0
    trace_id: str | None = None


class ChatResponse(BaseModel):
    """An answer whose every sentence is cited, or the refusal."""

    answer: str
    sources: list[SourceCitation]
    mode: Literal["general", "selected_text"]
    metadata: ResponseMetadata
    book_id: str
    session_id: str | None
    timestamp: datetime
    confidence: float = Field(ge=0.0, le=1.0)
    confidence_level: Literal["high", "medium", "low", "insufficient"]
    should_answer: bool
    refusal_reason: str | None
    clarification: bool
    applied_filters: dict[str, Any]
    sentences: list[AnswerSentence]
    suggestions: list[SuggestedSection]
    standalone_question: str
    selection_source: SelectionSourceView | None = Field(
        default=None, description="Where the selection stands in the book, if that was said."
    )

    @classmethod
    def of(cls, answer: Answer) -> Self:
        """The wire form of an answer."""
        return cls(
            answer=answer.text,
            sources=[SourceCitation.of(c) for c in answer.citations],
            mode=answer.mode,
            metadata=metadata_of(answer),
            book_id=answer.book_id,
            session_id=answer.session_id,
            timestamp=answer.created_at,
            confidence=unit(answer.confidence.probability),
            confidence_level=answer.confidence.level,
            should_answer=answer.should_answer,
            refusal_reason=answer.refusal_reason,
            clarification=answer.clarification,
            applied_filters=answer.filters.applied(),
            sentences=[
                AnswerSentence(text=s.text, citations=list(s.citations)) for s in answer.sentences
            ],
            suggestions=[
                SuggestedSection(title=s.title, source_url=s.source_url) for s in answer.suggestions
            ],
            standalone_question=answer.standalone_question,
            selection_source=SelectionSourceView.of(answer.selection_source)
            if answer.selection_source
            else None,
        )

    @classmethod
    def of_exchange(cls, exchange: Exchange, book_id: str) -> Self | None:
        """A stored answer as it was sent; None for those stored before all of it was kept."""
        said = exchange.details
        if not said:
            return None
        return cls(
            answer=exchange.response,
            sources=[SourceCitation.of(Citation(**source)) for source in exchange.sources],
            mode=exchange.mode,
            metadata=ResponseMetadata(
                query_time_ms=exchange.latency_ms,
                chunks_retrieved=exchange.chunks_retrieved,
                model=said["model"],
                tokens_used=said["tokens_used"],
                trace_id=exchange.trace_id,
            ),
            book_id=book_id,
            session_id=exchange.session_id,
            timestamp=exchange.completed_at or exchange.created_at,
            confidence=unit(exchange.confidence or 0.0),
            confidence_level=said["confidence_level"],
            should_answer=said["should_answer"],
            refusal_reason=exchange.refusal_reason,
            clarification=said["clarification"],
            applied_filters=said["filters"],
            sentences=said["sentences"],
            suggestions=said["suggestions"],
            standalone_question=said["standalone_question"],
            selection_source=said["selection_source"],
        )


def metadata_of(answer: Answer) -> ResponseMetadata:
    """How this answer was made."""
    return ResponseMetadata(
        query_time_ms=round(answer.elapsed_ms, 3),
        chunks_retrieved=len(answer.passages),
        model=answer.model,
        tokens_used=answer.tokens_used,
        trace_id=answer.trace_id,
    )


class StreamChunk(BaseModel):
    """A verified sentence of the answer."""

    type: Literal["chunk"] = "chunk"
    content: str
    citations: list[int] = Field(default_factory=list[int])


class StreamSources(BaseModel):
    """The sources, once all sentences are out."""

    type: Literal["sources"] = "sources"
    sources: list[SourceCitation]


class StreamDone(BaseModel):
    """The end of a whole answer, with the response it adds up to."""

    type: Literal["done"] = "done"
    metadata: ResponseMetadata
    response: ChatResponse


class StreamError(BaseModel):
    """The end of an answer that failed after the first byte."""

    type: Literal["error"] = "error"
    error_code: str
    message: str
    trace_id: str | None = None
    retryable: bool = False
