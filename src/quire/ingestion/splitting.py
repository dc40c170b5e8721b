"""Splitting a page into chunks: by structure first, then by size, with exact offsets."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from quire.books import Book
from quire.ingestion.anchors import MAX_TITLE
from quire.ingestion.breadcrumbs import Trail
from quire.ingestion.budget import Budget, letters_weight
from quire.ingestion.identity import LessonKeys, chunk_ids, parent_id, sha256
from quire.ingestion.packing import pack
from quire.ingestion.pages import Page, Skipped, read_page
from quire.ingestion.pieces import Piece, PieceMaker
from quire.ingestion.rendering import MYST_KNOWN
from quire.ingestion.renditions import rendition
from quire.ingestion.sections import Section, sections
from quire.models import Chunk, Rendition, utc_now

SPLITTING_VERSION = 6
"""Rises when the same page would be split or rendered otherwise."""

MIN_CHARACTERS = 10
_DIRECTIVE_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})\{([\w-]+)\}")
_TINY_WORDS = 10
_MAX_WIDTH = 10
"""Characters per token that no text reaches; more of them are not estimated, only split."""
_MAX_SECTION = 8_000
"""Characters up to which a section may be one chunk (most of them may be a comment)."""


@dataclass(frozen=True, slots=True)
class PageChunks:
    """The chunks of a page in order, and what is embedded and indexed for each."""

    chunks: tuple[Chunk, ...]
    embedded: tuple[str, ...]


class _Draft:
    """A chunk in the making: pieces of the page, and the section it counts as."""

    __slots__ = ("_word_count", "pieces", "range", "section", "size", "whole")

    def __init__(self, section: int, pieces: list[Piece], size: int) -> None:
        self.section = section
        self.pieces = pieces
        self.size = size
        self.range: tuple[int, int] | None = None  # in the file, once asked for
        self.whole = False  # all of its section
        self._word_count: int | None = None

    @property
    def has_words(self) -> bool:
        """Whether it holds more than headings and what nobody reads."""
        return any(piece.words and piece.kind != "heading" for piece in self.pieces)

    @property
    def word_count(self) -> int:
        """Its words without those of headings; counted when first asked for."""
        if self._word_count is None:
            said = [piece.words for piece in self.pieces if piece.kind != "heading"]
            self._word_count = sum([words.count(" ") + 1 for words in said if words])
        return self._word_count

    def join(self, other: _Draft) -> None:
        """Take the next draft in; the section with more words gives the anchor."""
        words, more = self.word_count, other.word_count
        if more > words:
            self.section = other.section
        self.pieces.extend(other.pieces)
        self.range = None
        self.size += other.size
        self.whole = self.whole and other.whole
        self._word_count = words + more


def chunk_page(
    book: Book,
    page: Page,
    *,
    max_tokens: int,
    count_tokens: Callable[[str], int],
    identity: LessonKeys,
) -> PageChunks:
    """The chunks of a page; pure apart from their time stamps.

    Every character of the page that is neither front matter nor blank belongs to exactly one
    chunk, a chunk's text is an exact slice of the file, stripped, and at least 10 characters
    long (a page with less gives no chunk). Of a notebook, the sources of cells that hold more
    than a heading are covered, and no chunk crosses a cell. `embedded` is within `max_tokens`,
    heading path included, as far as `Budget` can tell.
    """
    weight = letters_weight(page.text, page.language)
    splitter = _Splitter(page, Budget(max_tokens, count_tokens, weight))
    drafts = splitter.drafts()
    return _Assembly(book, page, splitter).chunks(drafts, identity)


def split_file(
    book: Book,
    source_file: str,
    data: bytes,
    *,
    max_tokens: int,
    count_tokens: Callable[[str], int],
    identity: LessonKeys,
) -> PageChunks | None:
    """Read a source file and split it; None when it is not to be indexed (`read_page`)."""
    page = read_page(book, source_file, data)
    if isinstance(page, Skipped):
        return None
    return chunk_page(
        book, page, max_tokens=max_tokens, count_tokens=count_tokens, identity=identity
    )


class _Splitter:
    def __init__(self, page: Page, budget: Budget) -> None:
        self.page = page
        self.budget = budget
        self.sections = sections(page)
        self._maker = PieceMaker(page, budget)
        self._prefixes = [self._sized_prefix(section.path) for section in self.sections]

    def drafts(self) -> list[_Draft]:
        drafts: list[_Draft] = []
        for index in range(len(self.sections)):
            drafts.extend(self._split_section(index))
        if self.page.breaks:
            return [draft for draft in drafts if draft.has_words and not self._is_short(draft)]
        return self._joined_short(self._joined_tiny(drafts))

    def prefix(self, index: int) -> str:
        """The heading path in front of what is embedded: `page > section > subsection`."""
        return self._prefixes[index][0]

    def embedded(self, draft: _Draft) -> str:
        """Heading path and words; what was said before is not said twice.

        That is, headings that the path names, and the language in front of each part of one
        code block (parts of a block touch, blocks never do).
        """
        path = (self.page.title, *self.sections[draft.section].path)
        lines = [self.prefix(draft.section)]
        before: Piece | None = None
        for piece in draft.pieces:
            words = piece.words
            if words and (piece.kind != "heading" or words not in path):
                if before is not None and before.end == piece.start and piece.kind == "fence":
                    label, _, code = words.partition("\n")
                    words = code if before.words.startswith(f"{label}\n") else words
                lines.append(words)
            before = piece
        return "\n".join(lines)

    def embedded_size(self, draft: _Draft) -> int:
        """Estimated tokens of what is embedded."""
        return self._prefix_size(draft.section) + draft.size

    def _prefix_size(self, index: int) -> int:
        return self._prefixes[index][1]

    def _sized_prefix(self, section_path: tuple[str, ...]) -> tuple[str, int]:
        title = self.page.title
        return self._shortened([title, *[above for above in section_path if above != title]])

    def _shortened(self, titles: list[str]) -> tuple[str, int]:
        """A path of at most a third of a chunk: middle titles go first, then long tails."""
        room = self.budget.limit // 3
        path = " > ".join(titles)
        size = self.budget.size(path)
        while size > room and len(path) >= room and len(path) > 20:
            if len(titles) > 2:
                del titles[len(titles) // 2]
            else:
                titles = [title[: max(8, len(title) * 2 // 3)] for title in titles]
            path, previous = " > ".join(titles), path
            if path == previous:
                break
            size = self.budget.size(path)
        return path, size

    def _split_section(self, index: int) -> list[_Draft]:
        drafts = self._section_drafts(index)
        if len(drafts) == 1:
            drafts[0].whole = True
        return drafts

    def _section_drafts(self, index: int) -> list[_Draft]:
        section = self.sections[index]
        spent = self._prefix_size(index)
        blocks = self.page.blocks[section.first : section.last]
        wholes: list[Piece | None] = []
        if section.headed:
            title = self.page.headings[section.first].title
            is_cut = len(title) > MAX_TITLE - 10
            wholes.append(self._maker.whole(blocks[0], None if is_cut else title))
        wholes.extend([self._maker.whole(block) for block in blocks[len(wholes) :]])
        pieces = [piece for piece in wholes if piece is not None]
        length = blocks[-1].end - blocks[0].start
        words = "\n".join([piece.words for piece in pieces if piece.words])
        may_fit = length < _MAX_SECTION and len(words) < self.budget.limit * _MAX_WIDTH
        if may_fit and len(pieces) == len(blocks):
            draft = _Draft(index, pieces, self._maker.size(words, length))
            total = draft.size + spent
            if total <= self.budget.full:
                return [draft]
            if total <= self.budget.limit * 1.1 and self.budget.fits(self.embedded(draft), total):
                return [draft]
        prefix = self.prefix(index)
        room = max(16, self.budget.full - spent)
        pieces = list[Piece]()
        lead = 0
        for block, whole in zip(blocks, wholes, strict=True):
            if whole is not None and self._maker.fits(whole, room, prefix):
                pieces.append(whole)
            else:
                pieces.extend(self._maker.parts(block, room, lead))
            lead = lead + pieces[-1].size if pieces[-1].opens else 0
        return self._packed(index, pieces, room)

    def _packed(self, index: int, pieces: list[Piece], room: int) -> list[_Draft]:
        """Drafts of neighbouring pieces; a smaller room where the real count is over the limit.

        A piece that alone is over it stays whole; its embedded text is cut at the end.
        """
        drafts: list[_Draft] = []
        for unit in pack(pieces, room):
            draft = _Draft(index, unit, sum(piece.size for piece in unit))
            size = self.embedded_size(draft)
            stays = len(unit) == 1 or room < 24 or size <= self.budget.full
            if stays or self.budget.fits(self.embedded(draft), size):
                drafts.append(draft)
            else:
                drafts.extend(self._packed(index, unit, room * 3 // 4))
        return drafts

    def _joined_tiny(self, drafts: list[_Draft]) -> list[_Draft]:
        """Sections of a few words joined to a neighbour under the same parent.

        A heading without content goes to what follows it. The joined chunk keeps the
        section that holds more words, so that its anchor is right for nearly all of it.
        """
        joined: list[_Draft] = []
        for draft in drafts:
            last = joined[-1] if joined else None
            if last is not None and self._may_join(last, draft):
                last.join(draft)
            else:
                joined.append(draft)
        return joined

    def _may_join(self, first: _Draft, second: _Draft) -> bool:
        if not first.has_words:
            return self._fits_together(first, second, self.budget.limit)
        if not (first.whole and second.whole):
            return False
        if first.word_count >= _TINY_WORDS and second.word_count >= _TINY_WORDS:
            return False
        if not second.has_words:  # its content follows; only a trailing heading goes back
            return second.section == len(self.sections) - 1
        one, two = self.sections[first.section], self.sections[second.section]
        related = two.parent in (one.parent, first.section)
        return related and self._fits_together(first, second, self.budget.full)

    def _fits_together(self, first: _Draft, second: _Draft, room: int) -> bool:
        spent = max(self._prefix_size(first.section), self._prefix_size(second.section))
        return first.size + second.size + spent <= room

    def _joined_short(self, drafts: list[_Draft]) -> list[_Draft]:
        """Drafts under 10 characters joined to a neighbour whatever its size."""
        joined: list[_Draft] = []
        for draft in drafts:
            if joined and (self._is_short(draft) or self._is_short(joined[-1])):
                joined[-1].join(draft)
            else:
                joined.append(draft)
        return joined if len(joined) > 1 or not joined or not self._is_short(joined[0]) else []

    def _is_short(self, draft: _Draft) -> bool:
        start, end = self.range(draft)
        return end - start < MIN_CHARACTERS

    def range(self, draft: _Draft) -> tuple[int, int]:
        """The draft's range in the file, stripped."""
        if draft.range is None:
            draft.range = self._stripped_range(draft)
        return draft.range

    def _stripped_range(self, draft: _Draft) -> tuple[int, int]:
        return self.page.origin(*self.read_range(draft))

    def read_range(self, draft: _Draft) -> tuple[int, int]:
        """The draft's range in the page's text, stripped."""
        text = self.page.text
        start, end = draft.pieces[0].start, draft.pieces[-1].end
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        return start, end


class _Assembly:
    """Turns drafts into chunks with their metadata."""

    def __init__(self, book: Book, page: Page, splitter: _Splitter) -> None:
        self._book = book
        self._page = page
        self._splitter = splitter

    def chunks(self, drafts: list[_Draft], identity: LessonKeys) -> PageChunks:
        page, splitter = self._page, self._splitter
        ranges = [splitter.range(draft) for draft in drafts]
        texts = [page.source[start:end] for start, end in ranges]
        embedded = tuple(
            splitter.budget.cut(splitter.embedded(draft), splitter.embedded_size(draft))
            for draft in drafts
        )
        scope = identity.scope(self._book.id, page)
        hashes = [sha256(text) for text in texts]
        ids = chunk_ids(scope, hashes)
        parent = parent_id(scope)
        lines = _line_numbers(page.source, ranges)
        trail = Trail(self._book, page)
        now = utc_now()
        chunks: list[Chunk] = []
        for index, (draft, text) in enumerate(zip(drafts, texts, strict=True)):
            section = splitter.sections[draft.section]
            start, end = ranges[index]
            count = len(text.split())
            rendered = rendition(page, *splitter.read_range(draft))
            chunks.append(
                Chunk(
                    id=ids[index],
                    text=text,
                    book_id=self._book.id,
                    source_file=page.source_file,
                    module=page.module,
                    chapter=page.chapter,
                    lesson=page.lesson,
                    page_title=page.title,
                    section_title=section.title,
                    section_path=section.path,
                    breadcrumb=trail.to(section.path),
                    source_url=_url(page, section),
                    language=page.language,
                    hardware_tier=page.hardware_tier,
                    proficiency_level=page.proficiency_level,
                    layer=page.layer,
                    char_start=start,
                    char_end=end,
                    line_start=lines[index][0],
                    line_end=lines[index][1],
                    parent_doc_id=parent,
                    chunk_index=index,
                    total_chunks=len(texts),
                    prev_chunk_id=ids[index - 1] if index else None,
                    next_chunk_id=ids[index + 1] if index + 1 < len(ids) else None,
                    content_hash=hashes[index],
                    source_file_hash=page.source_hash,
                    embedded_hash=sha256(embedded[index]),
                    created_at=now,
                    updated_at=now,
                    word_count=max(1, count),
                    token_count=max(1, int(count * 1.3)),
                    char_count=len(text),
                    opening=_opening(page, draft.pieces[0], rendered),
                    rendition=rendered,
                )
            )
        return PageChunks(tuple(chunks), embedded)


def _opening(page: Page, first: Piece, rendered: Rendition | None) -> str:
    """What the chunk begins in; a rendition of MyST is in no directive any more that it knows."""
    fence = (
        _DIRECTIVE_FENCE.match(first.opening) if rendered and page.format == "markdown" else None
    )
    return "" if fence and fence[1] in MYST_KNOWN else first.opening


def _url(page: Page, section: Section) -> str:
    return f"{page.url}#{section.anchor}" if section.anchor else page.url


def _line_numbers(source: str, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The first and last line of each range, counted from 1; ranges are in order."""
    numbers: list[tuple[int, int]] = []
    at, line = 0, 1
    for start, end in ranges:
        first = line + source.count("\n", at, start)
        line = first + source.count("\n", start, end)
        numbers.append((first, line))
        at = end
    return numbers
