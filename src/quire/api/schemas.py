"""The wire: requests and responses of the HTTP API (and of `--json`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from quire.conversations import Thread, ThreadSummary
from quire.ingestion.jobs import IngestionJob
from quire.ingestion.state import BookState
from quire.models import Answer, Chunk, Citation, Passage, Retrieval
from quire.wiring import BookSummary

SNIPPET = 500
UUID_PATTERN = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"

FilterValue = str | int | list[str] | list[int]


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


BookId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
SessionId = Annotated[str, StringConstraints(pattern=UUID_PATTERN)]


class Request(BaseModel):
    """A body: unknown fields are refused, so that a misspelt one is not silently ignored."""

    model_config = ConfigDict(extra="forbid")


class SelectionPlace(Request):
    """Where a selection stands; offsets count code points of the page's text."""

    page_url: str = Field(max_length=4096)
    char_start: int = Field(ge=0)
    char_end: int = Field(ge=0)


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

    query: Annotated[str, AfterValidator(_not_blank)] = Field(
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
        default=None, description="Where `selected_text` stands on the reader's page."
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
            relevance_score=_unit(citation.score),
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
            confidence=_unit(answer.confidence.probability),
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


class RunRequest(Request):
    """A question in the older shape, with its narrower limits."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"message": "How do ROS 2 nodes communicate?"}]},
    )

    message: Annotated[str, AfterValidator(_not_blank)] = Field(min_length=1, max_length=1000)
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
            confidence=_unit(answer.confidence.probability),
            sources=[
                RunSource(
                    chunk_text=citation.chunk_text[:SNIPPET],
                    similarity_score=_unit(citation.score),
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


class SearchRequest(Request):
    """A search with filters; all conditions must hold."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"text": "quality of service", "module_filter": "ros2", "limit": 3},
            ]
        },
    )

    text: str = Field(min_length=3, max_length=2000, description="What to look for.")
    book_id: BookId | None = None
    hardware_tier_filter: int | None = Field(
        default=None, ge=1, le=4, description="This tier or a lower one."
    )
    module_filter: str | None = None
    chapter_min: int | None = Field(default=None, ge=0)
    chapter_max: int | None = Field(default=None, ge=0)
    lesson_filter: int | None = Field(default=None, ge=0)
    proficiency_levels: list[str] | None = Field(default=None, description="Any of these.")
    layer_filter: str | None = None
    parent_doc_id: str | None = None
    filters: dict[str, FilterValue] | None = Field(
        default=None, description="The same names as in `/chat`."
    )
    score_threshold: float = Field(default=0.0, ge=0.0, le=1.0)
    limit: int = Field(default=5, ge=1, le=20)

    def filter_values(self) -> dict[str, FilterValue]:
        """The conditions of both spellings under one set of names."""
        named: dict[str, FilterValue | None] = {
            "hardware_tier": self.hardware_tier_filter,
            "module": self.module_filter,
            "chapter_min": self.chapter_min,
            "chapter_max": self.chapter_max,
            "lesson": self.lesson_filter,
            "proficiency_levels": self.proficiency_levels,
            "layer": self.layer_filter,
            "parent_doc_id": self.parent_doc_id,
        }
        given = {name: value for name, value in named.items() if value is not None}
        return {**given, **(self.filters or {})}


class ChunkView(BaseModel):
    """A stored piece of a page."""

    id: str
    text: str
    source_file: str
    source_url: str
    page_title: str
    section_title: str | None
    breadcrumb: str
    module: str
    chapter: int
    lesson: int
    hardware_tier: int
    proficiency_level: str
    layer: str
    chunk_index: int
    total_chunks: int
    parent_doc_id: str | None
    prev_chunk_id: str | None
    next_chunk_id: str | None
    content_hash: str | None
    char_start: int
    char_end: int
    line_start: int
    line_end: int

    @classmethod
    def of(cls, chunk: Chunk) -> Self:
        """The wire form of a chunk."""
        return cls(**{name: getattr(chunk, name) for name in ChunkView.model_fields})


class SearchResult(ChunkView):
    """A passage that was found."""

    score: float = Field(ge=0.0, le=1.0, description="Calibrated relevance.")
    cosine: float

    @classmethod
    def of_passage(cls, passage: Passage) -> Self:
        """The wire form of a passage."""
        chunk = {name: getattr(passage.chunk, name) for name in ChunkView.model_fields}
        return cls(score=_unit(passage.score), cosine=passage.cosine, **chunk)


class SearchResponse(BaseModel):
    """What was found, best first, and the filters that applied."""

    query: str
    results: list[SearchResult]
    total_found: int
    hardware_tier_filter: int | None
    module_filter: str | None
    book_id: str
    applied_filters: dict[str, Any]

    @classmethod
    def of(cls, retrieval: Retrieval, book_id: str) -> Self:
        """The wire form of a retrieval."""
        return cls(
            query=retrieval.query,
            results=[SearchResult.of_passage(p) for p in retrieval.passages],
            total_found=len(retrieval.passages),
            hardware_tier_filter=retrieval.filters.hardware_tier,
            module_filter=retrieval.filters.module,
            book_id=book_id,
            applied_filters=retrieval.filters.applied(),
        )


class TaxonomyView(BaseModel):
    """The values a book allows; an empty list or null means that any is allowed."""

    modules: list[str] = Field(default_factory=list[str])
    tiers: list[int] = Field(default_factory=list[int])
    proficiency_levels: list[str] = Field(default_factory=list[str])
    layers: list[str] = Field(default_factory=list[str])
    chapters: tuple[int, int] | None = None
    lessons: tuple[int, int] | None = None


class BookView(BaseModel):
    """A book that was ingested."""

    id: str
    title: str
    base_url: str | None
    pages: int
    chunks: int
    last_ingested_at: datetime | None
    taxonomy: TaxonomyView

    @classmethod
    def of(cls, book: BookSummary) -> Self:
        """The wire form of a book."""
        return cls(
            id=book.id,
            title=book.title,
            base_url=book.base_url,
            pages=book.pages,
            chunks=book.chunks,
            last_ingested_at=book.last_ingested_at,
            taxonomy=TaxonomyView.model_validate(dict(book.taxonomy)),
        )


class BookList(BaseModel):
    """All books."""

    books: list[BookView]


class DocumentView(BaseModel):
    """A whole page."""

    book_id: str
    parent_doc_id: str
    page_title: str
    source_file: str
    source_url: str
    chunks: list[ChunkView]

    @classmethod
    def of(cls, book_id: str, chunks: Sequence[Chunk]) -> Self:
        """The wire form of a page's chunks (at least one)."""
        first = chunks[0]
        return cls(
            book_id=book_id,
            parent_doc_id=first.parent_doc_id,
            page_title=first.page_title,
            source_file=first.source_file,
            source_url=first.source_url.partition("#")[0],
            chunks=[ChunkView.of(chunk) for chunk in chunks],
        )


class ChunkContext(BaseModel):
    """A chunk with its neighbours, in page order."""

    book_id: str
    chunk_id: str
    chunks: list[ChunkView]


class ThreadMessage(BaseModel):
    """One message of a thread."""

    role: Literal["user", "assistant"]
    content: str
    timestamp: datetime
    confidence: float | None = None


class ThreadOverview(BaseModel):
    """A thread as it stands in a list."""

    thread_id: str
    book_id: str
    title: str
    exchanges: int
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    topic_summary: str | None

    @classmethod
    def of(cls, thread: ThreadSummary) -> Self:
        """The wire form of a thread's summary."""
        names = set(ThreadOverview.model_fields) - {"thread_id"}
        return cls(thread_id=thread.id, **{name: getattr(thread, name) for name in names})


class ConversationThread(ThreadOverview):
    """A thread with its last 50 messages."""

    messages: list[ThreadMessage]
    metadata: dict[str, Any]

    @classmethod
    def of_thread(cls, thread: Thread) -> Self:
        """The wire form of a thread."""
        return cls(
            **ThreadOverview.of(thread).model_dump(),
            messages=[
                ThreadMessage(
                    role=message.role,
                    content=message.content,
                    timestamp=message.created_at,
                    confidence=message.confidence,
                )
                for message in thread.messages
            ],
            metadata=thread.metadata,
        )


class ThreadList(BaseModel):
    """An owner's threads, the last active one first."""

    sessions: list[ThreadOverview]


class RenameRequest(Request):
    """A title for a thread."""

    title: Annotated[str, AfterValidator(_not_blank)] = Field(min_length=1, max_length=200)


class FeedbackRequest(Request):
    """What a reader thought of an answer, named by its trace id or exchange id."""

    session_id: SessionId
    exchange_id: str | None = None
    trace_id: str | None = None
    rating: Literal["up", "down"]
    reason: str | None = Field(default=None, max_length=1000)

    @model_validator(mode="after")
    def _names_an_answer(self) -> Self:
        if not (self.exchange_id or self.trace_id):
            raise ValueError("exchange_id or trace_id is required")
        return self


class IngestionRequest(Request):
    """A folder to ingest, below one of the configured roots; or a known book, from its folder."""

    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=4096,
        description="Left out: the folder the book was ingested from.",
    )
    book_id: BookId | None = None
    mode: Literal["incremental", "full", "recreate"] = "incremental"


class IngestionJobView(BaseModel):
    """One run of ingestion."""

    job_id: int
    book_id: str
    mode: Literal["incremental", "full", "recreate"]
    status: Literal["queued", "running", "completed", "failed", "cancelled"]
    files_discovered: int
    files_processed: int
    files_skipped: int
    files_failed: int
    chunks_created: int
    chunks_deleted: int
    embedded: int
    tokens: int
    progress: dict[str, Any]
    errors: list[dict[str, Any]]
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    duration_seconds: int | None
    error_message: str | None

    @classmethod
    def of(cls, job: IngestionJob) -> Self:
        """The wire form of a job."""
        return cls(**{name: getattr(job, name) for name in cls.model_fields})


class IngestionJobList(BaseModel):
    """Jobs, newest first."""

    jobs: list[IngestionJobView]


class IngestionRecordView(BaseModel):
    """What was last ingested from one source file."""

    source_file: str
    file_hash: str
    chunk_ids: list[str]
    chunk_count: int
    ingested_at: datetime
    book_id: str
    module: str
    chapter: int
    lesson: int


class IngestionStateView(BaseModel):
    """What the index holds of a book."""

    book_id: str
    collection_name: str
    records: dict[str, IngestionRecordView]
    last_full_ingest: datetime | None
    last_incremental_update: datetime | None
    total_chunks: int

    @classmethod
    def of(cls, state: BookState) -> Self:
        """The wire form of a book's state."""
        names = IngestionRecordView.model_fields
        return cls(
            book_id=state.book_id,
            collection_name=state.collection_name,
            records={
                file: IngestionRecordView(**{name: getattr(record, name) for name in names})
                for file, record in state.records.items()
            },
            last_full_ingest=state.last_full_ingest,
            last_incremental_update=state.last_incremental_update,
            total_chunks=state.total_chunks,
        )


class ServiceStatus(BaseModel):
    """Whether one part works."""

    status: Literal["up", "down", "degraded"]
    latency_ms: float | None = None
    message: str | None = None


class HealthResponse(BaseModel):
    """Whether the service and its parts work."""

    status: Literal["healthy", "degraded", "unhealthy"]
    services: dict[str, ServiceStatus]
    timestamp: datetime


class ErrorResponse(BaseModel):
    """What went wrong, for people and programs (RFC 9457 members beside ours)."""

    error_code: str = Field(examples=["validation_error", "retrieval_unavailable"])
    message: str
    details: dict[str, Any] | None = None
    trace_id: str
    type: str = "about:blank"
    title: str
    status: int
    detail: str


def _unit(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 6)
