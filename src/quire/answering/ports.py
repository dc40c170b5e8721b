"""What answering needs from others: passages, and judgements of support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from quire.models import Filters, Retrieval
from quire.reading import Readable, as_readable


class Retriever(Protocol):
    """Finds the passages of one book that may answer a question."""

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
        """Passages in rank order with the confidence over them; raises `DependencyError`s.

        A `literal` query is known to be spelt as it is meant.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A piece of text that may hold the answer: a passage, or the reader's selection."""

    number: int
    text: str
    title: str = ""
    heading: str = ""
    score: float = 0.0
    """Relevance to the question in 0–1."""
    opening: str = ""
    """See `Chunk.opening`."""

    @property
    def readable(self) -> Readable:
        """The excerpt as a reader model takes it."""
        return as_readable(self.text, self.title, self.heading)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence of a draft and the words of the book that are to prove it."""

    question: str
    sentence: str
    evidence: str


class Support(Protocol):
    """Judges whether evidence proves a sentence, beyond what the code checks itself."""

    async def score(self, claims: Sequence[Claim]) -> Sequence[float]:
        """One value in 0–1 per claim, in input order."""
        ...
