"""The wire of the author's view."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from quire.access import SCOPES, ApiKey, CreatedKey, KeyKind, Scope, UsageDay
from quire.api.schemas.books import BookView
from quire.api.schemas.fields import BookId, Request
from quire.conversations.review import Asked
from quire.models import ConfidenceLevel
from quire.wiring.authors import Explained, GapGroup

ASK: frozenset[Scope] = frozenset({"chat", "search"})


class Overview(BaseModel):
    """Figures of one book or of all."""

    books: list[BookView]
    questions: int
    answered: int
    refused: int
    sessions: int
    rated_up: int
    rated_down: int


class SectionView(BaseModel):
    """The section nearest to a question."""

    title: str
    source_url: str


class GapView(BaseModel):
    """A question the book doesn't answer, counted with those that mean the same."""

    question: str
    count: int
    last_asked_at: datetime


class GapGroupView(BaseModel):
    """Unanswered questions near one section."""

    section: SectionView | None
    count: int
    questions: list[GapView]

    @classmethod
    def of(cls, group: GapGroup) -> Self:
        """The wire form of a group."""
        chunk = group.section
        section = None
        if chunk is not None:
            parts = [chunk.page_title, chunk.section_title or ""]
            title = " › ".join(dict.fromkeys(part for part in parts if part))
            section = SectionView(title=title, source_url=chunk.source_url)
        questions = [
            GapView(question=gap.question, count=gap.count, last_asked_at=gap.last_asked_at)
            for gap in group.gaps
        ]
        return cls(section=section, count=group.count, questions=questions)


class GapGroupList(BaseModel):
    """The groups, the one asked for most first."""

    groups: list[GapGroupView]


class WeakAnswerView(BaseModel):
    """An answer that may be bad."""

    question: str
    confidence: float | None
    rating: Literal["up", "down"] | None
    reason: str | None
    asked_at: datetime
    confidence_level: ConfidenceLevel | None

    @classmethod
    def of(cls, asked: Asked, level: ConfidenceLevel | None) -> Self:
        """The wire form of a stored answer."""
        rating = None if asked.rating is None else "up" if asked.rating > 0 else "down"
        return cls(
            question=asked.question,
            confidence=asked.confidence,
            confidence_level=level,
            rating=rating,
            reason=asked.comment,
            asked_at=asked.asked_at,
        )


class WeakAnswerList(BaseModel):
    """The answers, newest first."""

    questions: list[WeakAnswerView]


class ExplainedView(BaseModel):
    """A candidate with its places; `fused` is what candidates are ranked by."""

    id: str
    page_title: str
    section_title: str | None
    source_url: str
    text: str
    dense_rank: int
    dense_score: float
    bm25_rank: int | None
    bm25_score: float | None = Field(description="Relative to the best of the question.")
    fused_rank: int
    fused_score: float
    rerank_rank: int | None = None
    rerank_score: float | None = None

    @classmethod
    def of(cls, explained: Explained) -> Self:
        """The wire form of a candidate."""
        candidate, chunk = explained.candidate, explained.candidate.chunk
        return cls(
            id=chunk.id,
            page_title=chunk.page_title,
            section_title=chunk.section_title,
            source_url=chunk.source_url,
            text=chunk.text,
            dense_rank=explained.dense_rank,
            dense_score=round(candidate.cosine, 6),
            bm25_rank=explained.bm25_rank,
            bm25_score=round(candidate.bm25, 6) if explained.bm25_rank else None,
            fused_rank=explained.rank,
            fused_score=round(candidate.score, 6),
        )


class ExplainedList(BaseModel):
    """The candidates of a question, best first."""

    query: str
    results: list[ExplainedView]


class UsageDayView(BaseModel):
    """One day."""

    date: date
    questions: int
    answered: int
    refused: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None
    tokens: int

    @classmethod
    def of(cls, day: UsageDay) -> Self:
        """The wire form of a day."""
        return cls(**{name: getattr(day, name) for name in cls.model_fields})


class UsageReport(BaseModel):
    """The days on which something was asked, oldest first."""

    days: list[UsageDayView]


class KeyRequest(Request):
    """A key to make."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "Docs site", "scopes": ["chat", "search"]}]},
    )

    name: str = Field(min_length=1, max_length=200)
    kind: KeyKind = "secret"
    scopes: list[Scope | Literal["ask"]] = Field(
        default_factory=lambda: ["chat", "search"],
        min_length=1,
        max_length=8,
        description="`ask` stands for `chat` and `search`.",
    )
    book_id: BookId | None = Field(default=None, description="The only book it reaches.")
    origins: list[str] = Field(
        default_factory=list[str],
        max_length=50,
        description="Sites a publishable key works from, such as `https://docs.example.org`.",
    )

    def granted(self) -> set[Scope]:
        """The scopes, `ask` spelt out."""
        named: set[Scope] = {scope for scope in self.scopes if scope != "ask"}
        if "ask" in self.scopes:
            named |= ASK
        return named


class KeyView(BaseModel):
    """A key without its text."""

    id: str
    name: str
    prefix: str
    kind: KeyKind
    scopes: list[Scope]
    book_id: str | None
    origins: list[str]
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        """The wire form of a key."""
        return cls(
            id=key.id,
            name=key.name,
            prefix=key.prefix,
            kind=key.kind,
            scopes=[scope for scope in SCOPES if scope in key.scopes],
            book_id=key.book_id,
            origins=list(key.origins),
            created_at=key.created_at,
            revoked_at=key.revoked_at,
            last_used_at=key.last_used_at,
        )


class NewKeyView(KeyView):
    """A new key with its text."""

    key: str = Field(default="", description="Shown once; it can't be read again.")

    @classmethod
    def of_created(cls, created: CreatedKey) -> Self:
        """The wire form of a new key."""
        view = cls.of(created.key)
        return view.model_copy(update={"key": created.text})


class KeyList(BaseModel):
    """Keys, the newest first."""

    keys: list[KeyView]
