"""The values every layer speaks of: chunks, filters, passages, citations, answers."""

from __future__ import annotations

import uuid
from bisect import bisect_left, bisect_right
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

NAMESPACE = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")

IngestionMode = Literal["incremental", "full", "recreate"]
JobStatus = Literal["queued", "running", "completed", "failed", "cancelled"]
AnswerMode = Literal["general", "selected_text"]
ConfidenceLevel = Literal["high", "medium", "low", "insufficient"]
RefusalReason = Literal[
    "no_passages", "low_confidence", "off_topic", "unsupported_draft", "unsafe_request"
]


def utc_now() -> datetime:
    """The present moment, time-zone aware."""
    return datetime.now(UTC)


class Run(NamedTuple):
    """Characters of a rendition that stand side by side in the chunk's text.

    As many here as there: each stands for its like. Else one here is spelt with several there.
    """

    here: int
    there: int
    length: int
    width: int
    """Characters of the chunk's text that they take."""

    def part(self, start: int, end: int) -> tuple[int, int]:
        """What of them stands between these places here, there."""
        if self.length != self.width:
            return self.there, self.there + self.width
        first, last = max(start, self.here), min(end, self.here + self.length)
        return self.there + first - self.here, self.there + last - self.here


@dataclass(frozen=True, slots=True)
class Rendition:
    """A chunk of another markup as Markdown; what isn't in a run was added."""

    text: str
    runs: tuple[Run, ...]
    """As they stand here. There it may be otherwise: lines of two cells take turns in a drawing."""

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """The slice of the chunk's text that holds `text[start:end]`; None if all was added."""
        first = bisect_right(self.runs, start, key=lambda run: run.here + run.length)
        after = bisect_left(self.runs, end, key=lambda run: run.here)
        held = [run.part(start, end) for run in self.runs[first:after]]
        if not held:
            return None
        return min(begin for begin, _ in held), max(stop for _, stop in held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A stored piece of a page: `source[char_start:char_end] == text`, always.

    Offsets count Unicode code points of the file decoded as UTF-8 without newline
    translation; lines are 1-based and inclusive.
    """

    id: str
    text: str
    book_id: str
    source_file: str
    # where it stands in the book
    module: str
    chapter: int
    lesson: int
    page_title: str
    section_title: str | None
    section_path: tuple[str, ...]
    breadcrumb: str
    source_url: str
    language: str
    # whom it is for
    hardware_tier: int
    proficiency_level: str
    layer: str
    # where it stands in the page
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    parent_doc_id: str
    chunk_index: int
    total_chunks: int
    prev_chunk_id: str | None
    next_chunk_id: str | None
    # how it changes
    content_hash: str
    source_file_hash: str
    embedded_hash: str
    """SHA-256 of what was embedded; a change of heading path changes it, `id` stays."""
    version: int = 1
    created_at: datetime = field(default_factory=utc_now)
    updated_at: datetime = field(default_factory=utc_now)
    # how large it is
    word_count: int
    token_count: int
    char_count: int
    # how it is read
    opening: str = ""
    """Of a slice that begins inside a fence or a table: the line or lines that opened it."""
    rendition: Rendition | None = None
    """What an answer is made from where the file's own markup isn't Markdown."""

    @property
    def markdown(self) -> str:
        """The chunk as Markdown."""
        return self.rendition.text if self.rendition else self.text

    def place(self, start: int, end: int) -> tuple[int, int] | None:
        """Where `markdown[start:end]` stands in `text`; None if nothing of it does."""
        return self.rendition.place(start, end) if self.rendition else (start, end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a search is narrowed to; every condition must hold (AND)."""

    hardware_tier: int | None = None
    """This tier or a lower one."""
    module: str | None = None
    chapter_min: int | None = None
    chapter_max: int | None = None
    lesson: int | None = None
    proficiency_levels: tuple[str, ...] = ()
    """Any of these."""
    layer: str | None = None
    parent_doc_id: str | None = None
    source_url: tuple[str, ...] = ()
    """Any of these, with or without an anchor."""
    page_title: tuple[str, ...] = ()
    section_heading: tuple[str, ...] = ()
    source_file: tuple[str, ...] = ()
    language: str | None = None

    def applied(self) -> dict[str, Any]:
        """Only the conditions that are set, as plain JSON values, to echo to the caller."""
        given: dict[str, Any] = {}
        for name, value in asdict(self).items():
            if value not in (None, ()):
                given[name] = [*value] if isinstance(value, tuple) else value  # pyright: ignore[reportUnknownVariableType]
        return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A retrieved chunk with its scores; `number` is its place in this retrieval (from 1)."""

    number: int
    chunk: Chunk
    score: float
    """Calibrated relevance in 0–1."""
    cosine: float
    """Raw similarity of question and chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """How well the retrieved passages answer the question."""

    average_similarity: float
    min_similarity: float
    max_similarity: float
    num_chunks: int
    chunk_diversity: float
    probability: float
    """Calibrated probability that the passages answer the question."""
    level: ConfidenceLevel
    should_answer: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What one retrieval found, in rank order, with the confidence over it."""

    query: str
    passages: tuple[Passage, ...]
    confidence: Confidence
    filters: Filters = Filters()
    meant: str | None = None
    """The query with its misspelt words put right, if it had any."""

    @property
    def asked(self) -> str:
        """What was searched, and what the passages should be read for."""
        return self.meant or self.query


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The proof of a sentence: a quote that stands at these offsets of its source.

    For `selected_text` answers the offsets and lines are those of the selection and
    `chunk_id` is None.
    """

    number: int
    """As in the answer's `[1]`."""
    quote: str
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    source_file: str
    source_url: str
    page_title: str
    section_heading: str
    breadcrumb: str
    chunk_id: str | None
    chunk_index: int
    chunk_text: str
    chapter: str
    score: float
    cosine: float
    highlight: tuple[int, int] | None = None
    """The exact answer inside the quote, as offsets relative to `char_start`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One verified sentence (or block) of an answer and the numbers of its citations."""

    text: str
    citations: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A nearby section, offered when the book doesn't answer."""

    title: str
    source_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionSource:
    """Where a reader's selection stands in the book; verified, never taken on trust."""

    source_file: str
    source_url: str
    page_title: str
    section_heading: str
    char_start: int
    char_end: int
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A cited answer, or the refusal (`should_answer` is False, `citations` empty)."""

    question: str
    text: str
    """The sentences with their `[n]` marks, as Markdown."""
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    mode: AnswerMode
    confidence: Confidence
    should_answer: bool
    refusal_reason: RefusalReason | None
    clarification: bool = False
    suggestions: tuple[Suggestion, ...] = ()
    standalone_question: str
    """The question as it was searched for, follow-ups resolved."""
    passages: tuple[Passage, ...] = ()
    filters: Filters = Filters()
    selection_source: SelectionSource | None = None
    book_id: str
    session_id: str | None = None
    model: str
    tokens_used: int
    elapsed_ms: float
    created_at: datetime = field(default_factory=utc_now)
    trace_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a thread as the agent sees it."""

    role: Literal["user", "assistant"]
    content: str
    created_at: datetime = field(default_factory=utc_now)
    confidence: float | None = None
