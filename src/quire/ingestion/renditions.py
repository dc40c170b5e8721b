"""Chunks of other markups as Markdown, each copied character traced to the file.

Answers are made from Markdown: their sentences, lists, code and tables are found in it, and the
reader model was taught on it. A slice of reStructuredText or of a notebook's JSON is none. So it is
written anew here, and what is quoted from that is put back to where it stands in the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from quire.ingestion.blocks import Block
from quire.ingestion.notebooks import Segment
from quire.ingestion.pages import Page
from quire.ingestion.restructured import DIRECTIVE, ITEM, TABLE
from quire.ingestion.sentences import line_ranges
from quire.models import Rendition, Run

_INLINE: Final = re.compile(
    r"``(?P<literal>(?:[^`]|`(?!`)){1,400}+)``"
    r"|:(?P<role>[\w+.-]{1,40}(?::[\w+.-]{1,40}){0,3}):`(?P<said>[^`]{1,400}+)`"
    r"|`(?P<reference>[^`]{1,400}+)`(?P<refers>__?(?!\w))?"
    r"|(?<![\w|])\|(?P<substituted>[^|\s][^|\n]{0,100}+)\|(?:__?)?(?!\w)"
    r"|(?P<note>[ \t]{0,3}\[(?:#?\w{0,40}|\*)\]_(?!\w))"
    r"|(?<![\w`])(?P<named>[A-Za-z0-9](?:[A-Za-z0-9.+-]|_(?=[A-Za-z0-9]))*+)__?(?![\w`])"
    r"|\\(?P<escaped>.)"
    r"|(?P<break>\r?\n[ \t]*)",
    re.DOTALL,
)
_MARKED: Final = re.compile(r"[`|_\\\n]")
_TARGET: Final = re.compile(r"\s*<[^<>`]{0,300}>\Z")
_CODE_ROLES: Final = frozenset(
    "code literal func function class meth method mod module attr attribute data const exc obj "
    "option envvar command program file kbd samp confval setting cmdoption macro type member "
    "keyword token any".split()
)
_ICONS: Final = frozenset("octicon fa fab far fas material-regular material-outlined".split())
_TICKETS: Final = frozenset("bug issue pr pull gh ticket".split())
_OBJECTS: Final = frozenset(
    "function class method attribute data exception option envvar confval cmdoption describe "
    "setting program property decorator macro type member var".split()
)
_OPTION: Final = re.compile(r"[ \t]*:[\w -]{1,40}:(?:\s|\Z)")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,30}\Z")
_FOOTNOTE: Final = re.compile(r"[ \t]*\.\.[ \t]+\[[^\]\n]{1,60}\][ \t]*")
_ROW: Final = re.compile(r"(?P<margin>[ \t]*)\*[ \t]+-(?:[ \t]+|\Z)")
_CELL: Final = re.compile(r"(?P<margin>[ \t]*)-(?:[ \t]+|\Z)")
_NUMBER: Final = re.compile(r"\(?(\d{1,9})[.)]")
_DEPTH: Final = "   "

Range = tuple[int, int]


def rendition(page: Page, start: int, end: int) -> Rendition | None:
    """`page.text[start:end]` as Markdown; None if the page is Markdown or plain text."""
    if page.format == "restructured":
        return _Restructured(page.text, start, end).render(_within(page.blocks, start, end))
    if page.format == "notebook":
        return _of_notebook(page, start, end)
    return None


def _within(blocks: Sequence[Block], start: int, end: int) -> Sequence[Block]:
    first = bisect_right(blocks, start, key=lambda block: block.end)
    return blocks[first : bisect_left(blocks, end, key=lambda block: block.start)]


class _Writer:
    """Markdown in the making."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._runs: list[Run] = []
        self._gap = ""

    def part(self, gap: str) -> None:
        """Put this before what comes next, if anything stands already."""
        self._gap = gap if self._length else ""

    def add(self, words: str) -> None:
        """Write what the file doesn't say."""
        if words:
            self._write(words)

    def copy(self, text: str, there: int, width: int | None = None) -> None:
        """Write what stands in the file `there` on, in so many characters."""
        if not text:
            return
        if self._gap:
            gap, self._gap = self._gap, ""
            self._write(gap)
        width = len(text) if width is None else width
        last = self._runs[-1] if self._runs else None
        if (
            last is not None
            and len(text) == width
            and last.length == last.width
            and last.here + last.length == self._length
            and last.there + last.width == there
        ):
            size = last.length + width
            self._runs[-1] = Run(last.here, last.there, size, size)
        else:
            self._runs.append(Run(self._length, there, len(text), width))
        self._parts.append(text)
        self._length += len(text)

    def done(self) -> Rendition:
        return Rendition("".join(self._parts), tuple(self._runs))

    def _write(self, words: str) -> None:
        if self._gap:
            words, self._gap = self._gap + words, ""
        self._parts.append(words)
        self._length += len(words)


class _Restructured:
    """Writes one slice of reStructuredText."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._start = start
        self._end = end
        self._writer = _Writer()
        self._indents: list[int] = []
        """Of the open lists, outermost first."""

    def render(self, blocks: Sequence[Block]) -> Rendition:
        beyond = self._start
        listed = False
        for block in blocks:
            start, end = max(block.start, self._start), min(block.end, self._end)
            if start < beyond or start >= end:
                continue
            self._writer.part("\n" if listed and block.kind == "item" else "\n\n")
            listed = block.kind == "item"
            if not listed:
                self._indents = []
            beyond = self._block(block, start, end)
        return self._writer.done()

    def _block(self, block: Block, start: int, end: int) -> int:
        """Write a block; returns where what it took ends."""
        match block.kind:
            case "heading":
                at = self._text.find(block.info, start, end)
                if at >= 0:
                    self._writer.add("#" * max(1, block.level) + " ")
                    self._inline(at, at + len(block.info))
            case "item":
                self._item(start, end)
            case "code" | "math":
                self._code(block, start, end)
            case "admonition":
                return self._directive(start, end)
            case "footnote":
                mark = _FOOTNOTE.match(self._text, start, end)
                self._prose(mark.end() if mark else start, end)
            case "comment" | "definition" | "rule":
                pass
            case _:
                self._paragraph(start, end)
        return end

    def _paragraph(self, start: int, end: int) -> None:
        """Prose; of a definition list each term, and after a colon what is said of it."""
        text = self._text
        start += len(text[start:end]) - len(text[start:end].lstrip())
        if text.startswith("| ", start):
            self._verse(start, end)
            return
        begins = not text[text.rfind("\n", 0, start) + 1 : start].strip()
        entries = _definitions(text, start, end) if begins and text[start] not in ":>" else []
        for number, (term, said) in enumerate(entries):
            if number:
                self._writer.part("\n\n")
            self._inline(*term)
            self._writer.add("\n: ")
            self._prose(*said)
        if not entries:
            self._prose(start, end)

    def _verse(self, start: int, end: int) -> None:
        """Lines that stay lines, each after a bar."""
        for number, (a, b) in enumerate(line_ranges(self._text, start, end)):
            line = self._text[a:b].rstrip()
            bare = line.lstrip().removeprefix("|").lstrip()
            self._writer.add("\n" if number else "")
            self._inline(a + len(line) - len(bare), a + len(line))

    def _prose(self, start: int, end: int, margin: str = "") -> None:
        """Prose, with one colon where two announce a block, and none if it is these alone."""
        text = self._text
        said = text[start:end].rstrip()
        if said.endswith("::"):
            said = said[:-2].rstrip() if said[-3:-2].isspace() or len(said) == 2 else said[:-1]
        if said.strip():
            self._inline(start, start + len(said), margin)

    def _item(self, start: int, end: int) -> None:
        text = self._text
        indent = _margin(text, start)
        start += len(text[start:end]) - len(text[start:end].lstrip())
        mark = ITEM.match(text, start, end)
        while self._indents and self._indents[-1] > indent:
            self._indents.pop()
        if not self._indents or self._indents[-1] < indent:
            self._indents.append(indent)
        margin = _DEPTH * (len(self._indents) - 1)
        number = _NUMBER.match(text, start, end)
        sign = f"{number[1]}. " if number else "1. " if text[start] == "#" else "- "
        self._writer.add(margin + sign)
        self._prose(mark.end() if mark else start, end, margin + _DEPTH)

    def _code(self, block: Block, start: int, end: int) -> None:
        lines = line_ranges(self._text, start, end)
        head = self._text[start:end].lstrip()
        if head.startswith(".. "):
            del lines[0]
            while lines and _OPTION.match(self._text, lines[0][0], lines[0][1]):
                del lines[0]
        elif TABLE.match(head.partition("\n")[0].strip()) and self._drawn_table(lines):
            return
        self._fenced(lines, block.info if _LANGUAGE.match(block.info) else "")

    def _fenced(self, lines: list[Range], language: str) -> None:
        text = self._text
        while lines and not text[slice(*lines[0])].strip():
            del lines[0]
        while lines and not text[slice(*lines[-1])].strip():
            del lines[-1]
        if not lines:
            return
        margin = min(_margin(text, a) for a, b in lines if text[a:b].strip())
        fence = "~~~~" if "```" in text[lines[0][0] : lines[-1][1]] else "```"
        self._writer.add(fence + language)
        for a, b in lines:
            line = text.rfind("\n", 0, a) + 1
            body = text[a:b].rstrip()
            at = min(max(a, line + margin), a + len(body))
            self._writer.add("\n")
            self._copy(at, a + len(body))
        self._writer.add(f"\n{fence}")

    def _directive(self, start: int, end: int) -> int:
        text = self._text
        found = DIRECTIVE.match(text[start:end].strip().partition("\n")[0])
        if found is None:
            return end
        name = found[1].lower().rpartition(":")[2]
        if name == "list-table":
            after = self._below(start)
            self._table(_listed_rows(text, end, after))
            return after
        argument = (found[2] or "").strip()
        styles = name == "class" and argument == argument.lower() and "(" not in argument
        at = text.find(argument, start, end) if name in _OBJECTS and not styles else -1
        if argument and at >= 0:
            self._writer.add("`")
            self._copy(at, at + len(argument))
            self._writer.add("`:")
        return end

    def _below(self, start: int) -> int:
        """Where what is indented below a directive ends."""
        text, margin, after = self._text, _margin(self._text, start), start
        for a, b in line_ranges(text, start, self._end):
            if a > start and text[a:b].strip() and _margin(text, a) <= margin:
                break
            after = b
        return after

    def _drawn_table(self, lines: Sequence[Range]) -> bool:
        """A table that is drawn with characters; False if its cells can't be told."""
        text = self._text
        rows = [(a, text[a:b].rstrip()) for a, b in lines if text[a:b].strip()]
        drawn = _grid_rows(rows) if rows[0][1].lstrip()[0] == "+" else _ruled_rows(rows)
        if not drawn:
            return False
        self._table(drawn)
        return True

    def _table(self, rows: Sequence[Sequence[Sequence[Range]]]) -> None:
        """Rows of cells of lines; the first row is the header."""
        if not rows:
            return
        width = max(len(row) for row in rows)
        for number, row in enumerate(rows):
            self._writer.add("\n|" if number else "|")
            for column in range(width):
                self._writer.add(" ")
                for place, (a, b) in enumerate(row[column] if column < len(row) else ()):
                    self._writer.add(" " if place else "")
                    self._inline(a, b)
                self._writer.add(" |")
            if number == 0:
                self._writer.add("\n|" + " --- |" * width)

    def _inline(self, start: int, end: int, margin: str = "") -> None:
        """Words with their markup."""
        text = self._text
        if not _MARKED.search(text, start, end):
            self._copy(start, end)
            return
        at = start
        for found in _INLINE.finditer(text, start, end):
            self._copy(at, found.start())
            self._construct(found, margin)
            at = found.end()
        self._copy(at, end)

    def _construct(self, found: re.Match[str], margin: str) -> None:
        match found.lastgroup:
            case "literal":
                self._as_code(*found.span("literal"))
            case "said":
                self._role(found["role"], *found.span("said"))
            case "reference":
                self._as_code(*found.span("reference"))
            case "refers":
                self._titled(*found.span("reference"))
            case "substituted" | "named" as group:
                self._copy(*found.span(group))
            case "escaped" if not found["escaped"].isspace():
                self._copy(*found.span())
            case "break":
                first = found.start() + found.group().index("\n")
                self._copy(first, first + 1)
                self._writer.add(margin)
            case _:
                pass

    def _role(self, role: str, start: int, end: int) -> None:
        name = role.rpartition(":")[2].lower()
        text = self._text
        if name in _ICONS:  # `windows;fa-xl`: its name says what it shows
            self._copy(start, start + len(text[start:end].partition(";")[0]))
            return
        start += text[start] in "~!"
        if text[start - 1] == "~" and not _TARGET.search(text[start:end]):
            start = max(start, text.rfind(".", start, end) + 1)
        if name in _TICKETS and text[start:end].isdigit():
            self._writer.add("#")
        if name in _CODE_ROLES:
            target = _TARGET.search(text[start:end])
            self._as_code(start, start + target.start() if target else end)
        else:
            self._titled(start, end)

    def _titled(self, start: int, end: int) -> None:
        """The words of a link, without where it leads."""
        target = _TARGET.search(self._text[start:end])
        self._unbroken(start, start + target.start() if target else end)

    def _as_code(self, start: int, end: int) -> None:
        ticks = "``" if "`" in self._text[start:end] else "`"
        self._writer.add(ticks)
        self._unbroken(start, end)
        self._writer.add(ticks)

    def _unbroken(self, start: int, end: int) -> None:
        """Words as they are, without the indentation after a line break."""
        for a, b in line_ranges(self._text, start, end):
            skipped = _margin(self._text, a) if a > start else 0
            self._copy(min(a + skipped, b), b)

    def _copy(self, start: int, end: int) -> None:
        if start < end:
            self._writer.copy(self._text[start:end], start - self._start)


def _margin(text: str, at: int) -> int:
    """Columns before what stands on the line of this place."""
    line = text.rfind("\n", 0, at) + 1
    end = text.find("\n", line)
    whole = text[line : len(text) if end < 0 else end]
    return len(whole) - len(whole.lstrip(" \t"))


def _definitions(text: str, start: int, end: int) -> list[tuple[Range, Range]]:
    """Terms, each on a line of its own, with what is indented below; none if it is no such list."""
    entries: list[tuple[Range, Range]] = []
    base = _margin(text, start)
    lines = [(a, a + len(text[a:b].rstrip())) for a, b in line_ranges(text, start, end)]
    for number, (a, b) in enumerate(lines):
        margin = _margin(text, a)
        if margin > base and entries:
            term, said = entries[-1]
            entries[-1] = (term, (said[0] or a + margin, b))
        elif number + 1 < len(lines) and _margin(text, lines[number + 1][0]) > base:
            if text[b - 1] in ".,;:!?":
                return []
            entries.append(((max(a, start) if number == 0 else a + margin, b), (0, 0)))
        else:
            return []
    return entries


def _listed_rows(text: str, start: int, end: int) -> list[list[list[Range]]]:
    """The rows of a `list-table`: a list of lists."""
    rows: list[list[list[Range]]] = []
    for a, b in line_ranges(text, start, end):
        line = text[a:b].rstrip()
        if not line.strip() or _OPTION.match(line):
            continue
        mark = _ROW.match(line)
        if mark:
            rows.append([])
        elif rows:
            mark = _CELL.match(line)
        if not rows:
            continue
        if mark:
            rows[-1].append([])
        at = mark.end() if mark else len(line) - len(line.lstrip())
        body = line[at:].removeprefix("| ")
        if body and rows[-1]:
            rows[-1][-1].append((a + len(line) - len(body), a + len(line)))
    return rows


def _grid_rows(lines: Sequence[tuple[int, str]]) -> list[list[list[Range]]]:
    """The rows of a table whose cells are framed; none where a cell spans rows.

    What spans all columns stands in the first one.
    """
    corners = [i for i, sign in enumerate(lines[0][1]) if sign == "+"]
    rows: list[list[list[Range]]] = []
    fresh = True
    for start, line in lines:
        if not line.strip(" +-="):
            fresh = True
            continue
        inner = [i for i in corners[1:-1] if line[i : i + 1] != "|"]
        if len(line) != corners[-1] + 1 or line[corners[0]] + line[-1] != "||":
            return []
        if inner and (inner != corners[1:-1] or "|" in line[corners[0] + 1 : -1]):
            return []
        if fresh:
            rows.append([[] for _ in corners[1:]])
            fresh = False
        for column, (left, right) in enumerate(
            pairwise([corners[0], corners[-1]] if inner else corners)
        ):
            _put(rows[-1][column], start, line, left + 1, right)
    return rows


def _ruled_rows(lines: Sequence[tuple[int, str]]) -> list[list[list[Range]]]:
    """The rows of a table with rules above, below and under its header."""
    columns = [found.span() for found in re.finditer(r"=+", lines[0][1])]
    rules = [number for number, (_, line) in enumerate(lines) if TABLE.match(line.strip())]
    rows: list[list[list[Range]]] = [] if len(rules) > 2 else [[[] for _ in columns]]
    fresh = True
    for number, (start, line) in enumerate(lines):
        if number in rules or not line.strip(" -"):
            fresh = fresh or number in rules
            continue
        bounds = [left for left, _ in columns[1:]] + [max(len(line), columns[-1][1])]
        cells = [(left, right) for (left, _), right in zip(columns, bounds, strict=True)]
        if fresh or line[slice(*cells[0])].strip():
            rows.append([[] for _ in columns])
            fresh = False
        for column, (left, right) in enumerate(cells):
            _put(rows[-1][column], start, line, left, right)
    return rows


def _put(cell: list[Range], start: int, line: str, left: int, right: int) -> None:
    words = line[left:right]
    if words.strip(" |") and not words.lstrip().startswith(".. "):
        left += len(words) - len(words.lstrip(" |"))
        cell.append((start + left, start + left + len(words.strip(" |"))))


def _of_notebook(page: Page, start: int, end: int) -> Rendition:
    """The source of a cell, or a part of it; code in a fence."""
    writer = _Writer()
    block = _code_cell(page, start)
    fence = "~~~~" if "```" in page.text[start:end] else "```"
    if block is not None:
        writer.add(f"{fence}{block.info}\n")
    base = page.origin(start, end)[0]
    for here, there, length, width in _traced(page.segments, start, end):
        writer.copy(page.text[here : here + length], there - base, width)
    if block is not None:
        writer.add(f"\n{fence}")
    return writer.done()


def _code_cell(page: Page, start: int) -> Block | None:
    """The block of a code cell that holds this place; it is all of its cell."""
    index = bisect_right(page.blocks, start, key=lambda block: block.end)
    alone = index in page.breaks and (index + 1 in page.breaks or index + 1 == len(page.blocks))
    if not alone or page.blocks[index].kind != "code":
        return None
    return page.blocks[index]


def _traced(segments: Sequence[Segment], start: int, end: int) -> Iterator[Run]:
    """The runs of `text[start:end]`, with offsets into the text and the file."""
    index = bisect_right(segments, start, key=lambda segment: segment.here) - 1
    for segment, after in zip(segments[index:], [*segments[index + 1 :], None], strict=True):
        if segment.here >= end:
            return
        here, stop = max(segment.here, start), min(after.here if after else end, end)
        if segment.width > 1 and here == segment.here:
            yield Run(here, segment.there, 1, segment.width)
            here += 1
        if here < stop:
            ahead = here - segment.here + max(0, segment.width - 1)
            yield Run(here, segment.there + ahead, stop - here, stop - here)
