"""Citations: how a quote becomes one, and the one check that each must pass before it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from quire.answering import markup
from quire.errors import ModelBehaviourError
from quire.models import Chunk, Citation, Passage

SELECTION_URL = "selected_text"
SELECTION_TITLE = "User Selection"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A slice of a passage's chunk: `passage.chunk.text[start:end]`."""

    passage: Passage
    start: int
    end: int
    highlight: tuple[int, int] | None = None
    """The exact answer, relative to `start`."""

    @property
    def text(self) -> str:
        """The words quoted."""
        return self.passage.chunk.text[self.start : self.end]


def lines_of(text: str, start: int, end: int, *, first: int = 1) -> tuple[int, int]:
    """The 1-based inclusive lines that `text[start:end]` stands on."""
    begin = first + text.count("\n", 0, start)
    return begin, begin + text.count("\n", start, max(start, end - 1))


def cite(quote: Quote, number: int) -> Citation:
    """The citation of a quote from the book; its URL and titles come from stored metadata only."""
    chunk = quote.passage.chunk
    line_start, line_end = lines_of(chunk.text, quote.start, quote.end, first=chunk.line_start)
    selected = chunk.source_url == SELECTION_URL
    return Citation(
        number=number,
        quote=quote.text,
        char_start=chunk.char_start + quote.start,
        char_end=chunk.char_start + quote.end,
        line_start=line_start,
        line_end=line_end,
        source_file=chunk.source_file,
        source_url=chunk.source_url,
        page_title=markup.visible(chunk.page_title),
        section_heading=markup.visible(chunk.section_title or "Introduction"),
        breadcrumb=markup.visible(chunk.breadcrumb),
        chunk_id=None if selected else chunk.id,
        chunk_index=chunk.chunk_index,
        chunk_text=markup.visible(chunk.text),
        chapter=_chapter(chunk),
        score=quote.passage.score,
        cosine=quote.passage.cosine,
        highlight=quote.highlight,
    )


def _chapter(chunk: Chunk) -> str:
    """The name of the chapter: the breadcrumb's part before the page, or what the page is in."""
    parts = [part.strip() for part in chunk.breadcrumb.replace("›", ">").split(">")]
    named = [part for part in parts if part.lower().startswith("chapter")]
    if named:
        return markup.visible(named[0])
    return f"Chapter {chunk.chapter}" if chunk.chapter else markup.visible(chunk.page_title)


def verify_citation(citation: Citation, retrieved: Mapping[str | None, Chunk]) -> Citation:
    """Return the citation if its quote stands in a chunk retrieved in this turn; else raise.

    Every citation of every answer passes here right before it leaves, in JSON and in streams.
    """
    chunk = retrieved.get(citation.chunk_id)
    if chunk is None:
        raise ModelBehaviourError("a citation names a passage that was not retrieved")
    start, end = citation.char_start - chunk.char_start, citation.char_end - chunk.char_start
    if not 0 <= start < end <= len(chunk.text) or chunk.text[start:end] != citation.quote:
        raise ModelBehaviourError("a quote does not stand in its source")
    if citation.source_url != chunk.source_url or citation.source_file != chunk.source_file:
        raise ModelBehaviourError("a citation points away from its passage")
    span = citation.highlight
    if span is not None and not 0 <= span[0] < span[1] <= end - start:
        return replace(citation, highlight=None)
    return citation


class Ledger:
    """Numbers the quotes of one answer in order of first use, one number per distinct quote."""

    def __init__(self) -> None:
        self._retrieved: dict[str | None, Chunk] = {}
        self._citations: dict[tuple[str, int, int], Citation] = {}

    def admit(self, passages: Iterable[Passage]) -> None:
        """Make known what was retrieved in this turn; only these can be cited."""
        for passage in passages:
            chunk = passage.chunk
            self._retrieved[None if chunk.source_url == SELECTION_URL else chunk.id] = chunk

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All citations so far, by number."""
        return tuple(self._citations.values())

    def enter(self, quote: Quote) -> Citation:
        """The verified citation of this quote, new or already numbered."""
        chunk = quote.passage.chunk
        key = (chunk.source_file, chunk.char_start + quote.start, chunk.char_start + quote.end)
        known = self._citations.get(key)
        if known is None:
            known = cite(quote, len(self._citations) + 1)
        self._citations[key] = verify_citation(known, self._retrieved)
        return self._citations[key]
