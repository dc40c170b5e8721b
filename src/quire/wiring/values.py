"""What callers hand to the library and get back beside answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from quire.models import AnswerMode, Message

if TYPE_CHECKING:
    from quire.ingestion.state import BookOverview

LOCAL_OWNER = "local"

Channel = Literal["chat", "openai", "mcp", "terminal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionClaim:
    """Where a caller says a selection stands: in a file of the book, or on a page of its site.

    Offsets count code points of the file, or of the page as it is shown.
    """

    source_file: str | None = None
    page_url: str | None = None
    char_start: int
    char_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question as callers put it; the library finds the book and checks the filters."""

    text: str
    book_id: str | None = None
    session_id: str | None = None
    remember: bool = False
    """Store the turn in a session, a new one if `session_id` is None."""
    history: Sequence[Message] = ()
    """Earlier turns, when the caller keeps them instead of a session."""
    mode: AnswerMode = "general"
    selected_text: str | None = None
    selection: SelectionClaim | None = None
    top_k: int = 5
    score_threshold: float | None = None
    filters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    owner: str = LOCAL_OWNER
    trace_id: str | None = None
    key_id: str | None = None
    """The key the answer is counted for."""
    channel: Channel = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class BookSummary:
    """A book that was ingested."""

    id: str
    title: str
    base_url: str | None
    pages: int
    chunks: int
    last_ingested_at: datetime | None
    root: str = ""
    taxonomy: Mapping[str, Any] = field(default_factory=dict[str, Any])
    examples: Sequence[str] = ()
    """Questions a reader may start with."""

    @classmethod
    def of(cls, book: BookOverview) -> BookSummary:
        """What callers see of a stored book."""
        return cls(
            id=book.id,
            title=book.title,
            base_url=book.base_url,
            pages=book.pages,
            chunks=book.chunks,
            last_ingested_at=book.last_ingested_at,
            root=book.root,
            taxonomy=book.details.get("taxonomy", {}),
            examples=book.details.get("examples", ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSummary:
    """A page of a book, as tables of contents name it."""

    parent_doc_id: str
    title: str
    source_url: str
    source_file: str
    module: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHealth:
    """Whether one resource answers, and how fast."""

    up: bool
    latency_ms: float
    message: str | None = None
