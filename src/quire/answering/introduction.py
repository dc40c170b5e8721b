"""Retrieval that knows where a book speaks of itself: on the pages that introduce it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from quire.answering.certainty import at_least_medium, at_most_low, refused
from quire.answering.definitions import is_said_outright
from quire.answering.intent import read_intent
from quire.answering.overview import introduces, is_quotable
from quire.answering.ports import Retriever
from quire.answering.whole import ABOUT, Subject, Whole, subject_asked, whole_book
from quire.models import Filters, Retrieval

_OF_FRONT: Final = 2
"""Passages of the introducing pages where something is said for the book's subject."""


@dataclass(frozen=True, slots=True)
class Front:
    """What a book is called, and the files that introduce it, the most telling first."""

    name: str
    pages: tuple[str, ...] = ()


class IntroducedRetriever:
    """Looks questions about the whole book, and about its own subject, up in its introduction.

    All others, and those that the introduction doesn't answer, go to the retriever it stands
    before.
    """

    def __init__(self, retriever: Retriever, front: Callable[[str], Awaitable[Front]]) -> None:
        self._retriever = retriever
        self._front = front

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
        """See `Retriever`; a caller who names files is answered from these alone."""
        front = Front("") if filters.source_file else await self._front(book_id)
        book = _Book(self._retriever, book_id, front, top_k, score_threshold, filters)
        whole = whole_book(query) if front.pages else None
        found = await book.introduced(whole) if whole else None
        if found is not None:
            return found
        found = await self._retriever.retrieve(
            book_id,
            whole.asked if whole and whole.kind == "start" else query,
            top_k=top_k,
            score_threshold=score_threshold,
            filters=filters,
            literal=literal,
        )
        subject = subject_asked(found.asked, front.name) if front.pages else None
        return await book.of_subject(subject, found) if subject else found


@dataclass(frozen=True, slots=True)
class _Book:
    """One book's introduction, within a caller's bounds."""

    retriever: Retriever
    book_id: str
    front: Front
    top_k: int
    score_threshold: float
    filters: Filters

    async def introduced(self, whole: Whole) -> Retrieval | None:
        """What the introduction says of it; None where to search all pages."""
        pages = self.front.pages[:1] if whole.kind == "about" else self.front.pages
        found = await self._of(pages, whole.asked)
        if not found.passages:
            return None
        told = tuple(passage for passage in found.passages if is_quotable(passage.chunk))
        found = replace(found, passages=told)
        said = whole.said(told)
        if said:
            return replace(found, passages=said, confidence=at_least_medium(found.confidence))
        if whole.elsewhere:
            return None
        nearest = await self.introduced(whole.instead) if whole.instead else None
        if nearest is not None and nearest.confidence.should_answer:
            return replace(nearest, confidence=at_most_low(nearest.confidence))
        return replace(found, confidence=refused(found.confidence))

    async def of_subject(self, subject: Subject, found: Retrieval) -> Retrieval:
        """What was found of the book's own subject, or what its introduction says of it.

        That is the answer to what it is, unless one sentence defines it, and to what it does or is
        for, unless that is surely found. What speaks for it may stand in both.
        """
        if not subject.what:
            front = await self._of(self.front.pages, found.asked)
            return self._behind(front, found) if _is_surer(front, found) else found
        if read_intent(found.asked).subject:
            told = [passage.chunk for passage in found.passages]
            sure = found.confidence.should_answer and any(
                is_said_outright(chunk.markdown, chunk.opening, subject.stems) for chunk in told
            )
        else:
            sure = found.confidence.level == "high"
        about = None if sure else await self.introduced(ABOUT)
        if about is None or not about.confidence.should_answer:
            return found
        told = [passage.chunk for passage in about.passages]
        named = subject.is_book or any(introduces(subject.stems, chunk) for chunk in told)
        return about if named else found

    def _behind(self, front: Retrieval, found: Retrieval) -> Retrieval:
        """Both, the front's best first."""
        first = [p for p in front.passages if is_quotable(p.chunk)][:_OF_FRONT]
        known = {passage.chunk.id for passage in first}
        rest = [passage for passage in found.passages if passage.chunk.id not in known]
        return replace(
            found,
            passages=(*first, *rest[: self.top_k - len(first)]),
            confidence=front.confidence if first else found.confidence,
        )

    async def _of(self, pages: Sequence[str], query: str) -> Retrieval:
        return await self.retriever.retrieve(
            self.book_id,
            query,
            top_k=self.top_k,
            score_threshold=self.score_threshold,
            filters=replace(self.filters, source_file=tuple(pages)),
            literal=True,
        )


def _is_surer(one: Retrieval, other: Retrieval) -> bool:
    better = one.confidence.probability > other.confidence.probability
    return better and one.confidence.level == "high"
