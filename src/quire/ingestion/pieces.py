"""The pieces that chunks are made of: whole blocks, or parts of blocks that are too long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from quire.ingestion.blocks import Block, Kind
from quire.ingestion.budget import Budget
from quire.ingestion.inline import words
from quire.ingestion.pages import Page
from quire.ingestion.rendering import Inline, item_words, render
from quire.ingestion.sentences import line_ranges, sentence_ranges
from quire.ingestion.tags import TagScanner

_SILENT_CHARACTERS = 16
"""Characters of comments and imports that weigh as one token, so that they spread out too."""
_CHARACTERS = 32
"""Characters of what has words that weigh as one token at least."""
_MAX_WHOLE = 6_000
"""Blocks longer than this are cut before they are rendered."""
_LEADS = (":", "：")
Range = tuple[int, int]
_OPENING_LINES: dict[Kind, int] = {"fence": 1, "math": 1, "table": 2}
_MAX_OPENING = 2_000
_CODE: frozenset[Kind] = frozenset({"fence", "code", "math"})
_LINED: frozenset[Kind] = frozenset(
    {"fence", "code", "math", "table", "quote", "html", "esm", "comment"}
)


@dataclass(slots=True)
class Piece:
    """A range of the page's text, the words that are embedded for it, and their size."""

    kind: Kind
    start: int
    end: int
    words: str
    size: int
    opens: bool = False
    """It leads to what follows: a heading, a lead-in, an opening tag or admonition."""
    closes: bool = False
    """It ends what came before: a closing tag or admonition."""
    listed: bool = False
    """A list item, or a block that stands inside one."""
    opening: str = ""
    """Of a part that begins inside a fence or a table: the lines that opened the block."""


class PieceMaker:
    """Makes the pieces of one page."""

    def __init__(self, page: Page, budget: Budget) -> None:
        """Pick the inline cleaner of the page's markup."""
        self._text = page.text
        self._budget = budget
        self._inline = inline_of(page)

    def whole(self, block: Block, title: str | None = None) -> Piece | None:
        """The block as one piece, not sized yet; None when it is too long to be looked at whole.

        `title` is the plain text of a heading.
        """
        start, end = block.start, block.end
        if end - start > _MAX_WHOLE:
            return None
        raw = self._text[start:end]
        kind = block.kind
        if kind == "paragraph":
            said = self._inline(raw)
            return Piece(kind, start, end, said, 0, said.endswith(_LEADS), False, raw[0] in " \t")
        if kind == "item":
            return Piece(kind, start, end, item_words(raw, self._inline), 0, False, False, True)
        said = self._render(block, raw) if title is None else title
        return self._piece(block, start, end, said, 0, raw)

    def fits(self, piece: Piece, room: int, prefix: str) -> bool:
        """Give a whole block's piece its size; False when it and `prefix` overflow a chunk."""
        piece.size = size = self.size(piece.words, piece.end - piece.start)
        return size <= room or self._fits_alone(piece.words, size, prefix)

    def parts(self, block: Block, room: int, lead: int) -> Iterator[Piece]:
        """The pieces of a block that is too long for one chunk.

        `lead` is the size of what leads to the block; its parts leave room for that.
        """
        text = self._text
        header = ""
        if lead < room // 2:
            room -= lead
        if block.kind == "table":
            header = text[block.start : text.find("\n", block.start, block.end)]
            if len(header) > _MAX_WHOLE:
                header = ""
            room -= self._budget.size(header)
        room = max(16, room)
        tag_end = _end_of_tag(text, block) if block.kind == "html" else block.start
        in_lines = block.kind in _LINED
        opening = _opening(text, block)
        for start, end in self._grouped(*self._ranges(block, room), room, in_lines):
            part = text[start:end]
            repeated = header if start > block.start else ""
            rendered = "" if end <= tag_end else self._render(block, part, repeated)
            size = self.size(rendered, end - start)
            piece = self._piece(block, start, end, rendered, size, part)
            if start > block.start:
                piece.opening = opening
            yield piece

    def size(self, rendered: str, length: int) -> int:
        """Estimated tokens of words that stand for `length` characters of the page.

        Characters without words count a little, so that they can't pile up in one chunk.
        """
        if rendered:
            return max(self._budget.size(rendered), length // _CHARACTERS)
        return -(-length // _SILENT_CHARACTERS)

    def _render(self, block: Block, text: str, header: str = "") -> str:
        return render(block.kind, text, info=block.info, header=header, inline=self._inline)

    def _fits_alone(self, rendered: str, size: int, prefix: str) -> bool:
        """Whether a block over the usual filling is still within the limit of a chunk."""
        if not rendered or size > 1.4 * self._budget.limit:
            return False
        return self._budget.fits(f"{prefix}\n{rendered}", self._budget.limit)

    def _piece(
        self, block: Block, start: int, end: int, rendered: str, size: int, raw: str
    ) -> Piece:
        kind = block.kind
        opens = closes = False
        if kind == "heading":
            opens = True
        elif kind == "paragraph":
            opens = rendered.endswith(_LEADS) and end == block.end
        elif kind == "admonition":
            opens = bool(block.info)
            closes = not opens
        elif kind == "html":
            closes = not rendered and raw.lstrip().startswith("</")
            opens = not closes and len(rendered) < 80
        elif not rendered:
            closes = kind == "fence" and "</" in raw
            opens = not closes
        listed = kind == "item" or self._text[block.start] in " \t"
        return Piece(kind, start, end, rendered, size, opens, closes, listed)

    def _ranges(self, block: Block, room: int) -> tuple[list[Range], list[int]]:
        """Where a long block may be cut, as ranges that tile it, and their sizes."""
        text, start, end = self._text, block.start, block.end
        if block.kind in _CODE:
            ranges: list[Range] = []
            sizes: list[int] = []
            for first, last in statement_ranges(text, start, end):
                size = self._budget.size(text[first:last])
                inner = line_ranges(text, first, last) if size > room else [(first, last)]
                ranges += inner
                sizes += self._sizes(inner) if size > room else [size]
            return ranges, sizes
        if block.kind == "quote":
            ranges = quoted_ranges(text, start, end)
        elif block.kind in _LINED:
            ranges = line_ranges(text, start, end)
        else:
            ranges = sentence_ranges(text, start, end)
        return ranges, self._sizes(ranges)

    def _sizes(self, ranges: list[Range]) -> list[int]:
        text, size_of = self._text, self._budget.size
        return [size_of(text[start:end]) for start, end in ranges]

    def _grouped(
        self, ranges: list[Range], sizes: list[int], room: int, in_lines: bool = False
    ) -> Iterator[Range]:
        """Neighbouring ranges joined into parts of even size; one that alone is too long is cut."""
        share = sum(sizes) / max(1, -(-sum(sizes) // room))
        begin = stop = ranges[0][0]
        held = passed = 0
        goal = share
        for (start, end), size in zip(ranges, sizes, strict=True):
            passed += size
            if size > room:
                if stop > begin:
                    yield begin, stop
                *parts, (begin, stop) = self._cut(start, end, room, in_lines)
                yield from parts
                held = self._budget.size(self._text[begin:stop])
                goal = passed - held + share
                continue
            if held and (held + size > room or passed - size / 2 > goal):
                yield begin, stop
                begin, held = start, 0
                goal += share
            held += size
            stop = end
        if stop > begin:
            yield begin, stop

    def _cut(self, start: int, end: int, room: int, in_lines: bool) -> list[Range]:
        """A range without structure: a line cut at sentences if it has some, else between words."""
        text = self._text
        if in_lines:
            sentences = sentence_ranges(text, start, end)
            if len(sentences) > 1:
                return list(self._grouped(sentences, self._sizes(sentences), room))
        return self._budget.cut_ranges(text, start, end, room)


def _opening(text: str, block: Block) -> str:
    """What a part of the block lacks to be read as one; empty when it reads by itself."""
    lines = _OPENING_LINES.get(block.kind, 0)
    opening = "\n".join(text[block.start : block.end].split("\n", lines)[:lines])
    return opening.strip("\r") if len(opening) <= _MAX_OPENING else ""


def quoted_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges that tile a quote: its lines, but a fence inside it in one."""
    ranges: list[tuple[int, int]] = []
    mark = ""
    for first, last in line_ranges(text, start, end):
        body = text[first:last].strip().lstrip("> \t")
        if mark:
            ranges[-1] = (ranges[-1][0], last)
            if body.startswith(mark) and not body.strip(mark[0]):
                mark = ""
            continue
        ranges.append((first, last))
        if body.startswith(("```", "~~~")):
            mark = body[: len(body) - len(body.lstrip(body[0]))]
    return ranges


def statement_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges of code that tile `text[start:end]`, each beginning with a line at the margin.

    The margin is the least indentation in the block, so a function stays with its body.
    Lines that only close a bracket go with what they close.
    """
    lines = line_ranges(text, start, end)
    raw = [text[first:last] for first, last in lines]
    bodies = [line.strip() for line in raw]
    indents = [
        len(line) - len(line.lstrip()) if body else -1
        for line, body in zip(raw, bodies, strict=True)
    ]
    margin = min((indent for indent in indents[1:] if indent >= 0), default=0)
    ranges: list[tuple[int, int]] = []
    begin = start
    decorated = False
    for (first, _), body, indent in zip(lines, bodies, indents, strict=True):
        at_margin = 0 <= indent <= margin and body[0] not in ")]}`~"
        if at_margin and first > begin and not decorated:
            ranges.append((begin, first))
            begin = first
        if body:
            decorated = body.startswith(("@", "#[", "```", "~~~", "//", "# "))
    ranges.append((begin, end))
    return ranges


def inline_of(page: Page) -> Inline:
    """What turns the page's inline markup into words."""
    if page.format == "mdx":
        return _mdx_words
    if page.format == "restructured":
        from quire.ingestion.restructured import restructured_words

        return restructured_words
    if page.format == "text":
        return _text_words
    return words


def _mdx_words(text: str) -> str:
    return words(text, mdx=True)


def _text_words(text: str) -> str:
    return " ".join(text.split())


def _end_of_tag(text: str, block: Block) -> int:
    """The offset after the opening tag of an HTML block."""
    opening = block.start
    while text[opening].isspace():
        opening += 1
    closed = TagScanner(text, block.end).end_of_tag(opening)
    return block.start if closed is None else closed + 1
