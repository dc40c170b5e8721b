"""The blocks of a Markdown or MDX page, with exact ranges, found in one pass over its lines.

A scanner of our own, because offsets must be exact and hostile pages must cost linear time;
a general parser gives neither. It is not a full CommonMark parser: containers are not nested
into a tree, blocks inside a list item or an admonition simply follow it with their indentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate, count, pairwise
from operator import add
from typing import Literal, NamedTuple

from quire.ingestion.tags import TagScanner

Kind = Literal[
    "heading",
    "paragraph",
    "fence",
    "code",
    "table",
    "item",
    "quote",
    "admonition",
    "html",
    "comment",
    "esm",
    "rule",
    "footnote",
    "definition",
    "math",
]


class Block(NamedTuple):
    """One block: `text[start:end]` from the first line's start, without trailing blanks."""

    kind: Kind
    start: int
    end: int
    level: int = 0
    """Of a heading 1–6; of an item its depth from 1; 1 of code that a directive holds."""
    info: str = ""
    """Heading: its raw text. Fence: the info string. Admonition, quote: what it is called."""


_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*))?\Z")
_CLOSING_HASHES = re.compile(r"(?:^|[ \t]+)#+[ \t]*\Z")
_FENCE = re.compile(r"(`{3,})([^`]*)\Z|(~{3,})(.*)\Z")
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])(?:([ \t]+)|\Z)")
_DIRECTIVE = re.compile(
    r":{3,}[ \t]*([A-Za-z][\w-]*)?(?:\[([^\]]*)\]|[ \t]+([^{]*))?[ \t]*(?:\{.*)?\Z"
)
_MYST = re.compile(r":{3,}\{([A-Za-z][\w-]*)\}[ \t]*(.*)\Z")
_MYST_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t]|\r?\Z)")
_MYST_TITLED = frozenset("admonition dropdown margin sidebar topic tab-item tab-set grid".split())
_MKDOCS = re.compile(r"(?:!!!|\?\?\?\+?)[ \t]+([A-Za-z][\w -]*?)?(?:[ \t]*\"(.*)\")?[ \t]*\Z")
_TAB = re.compile(r"===[+!]*[ \t]+\"(.*)\"[ \t]*\Z")
_SLASHES = re.compile(r"/{3,}(?:[ \t]*([A-Za-z][\w-]*)?[ \t]*(?:\|[ \t]*(.*))?)?\Z")
_ALERT = re.compile(r">[ \t]*\[!([A-Za-z]+)\][-+]?[ \t]*(.*)\Z")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,200}\]:")
_DEFINITION = re.compile(r"\[[^\]]{1,300}\]:[ \t]*\S")
_ESM = re.compile(
    r"import[ \t]+(?:[\w*{$][^;'\"]{0,2000}[ \t}]from[ \t]+)?['\"]"
    r"|import[ \t]*\{[ \t]*\Z"
    r"|export[ \t]+(?:const|let|var|default|function|async|class|type|interface)\b"
    r"|export[ \t]*[{*]"
)
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:|[^\s<>@]{1,200}@)[^\s<>]*>")
_VERBATIM_TAG = re.compile(r"<(pre|script|style|textarea)\b", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_BRACKETS = re.compile(r"[\[\](){}]")
_STARTERS = frozenset("#`~>|<:!?/=[{$-*+_0123456789ei")
_UNDERLINE = frozenset("=-")
_MAX_BLOCKS = 10_000
_DENSE = 16
_COARSE = 2_000


def scan(text: str, start: int = 0, end: int | None = None, *, mdx: bool = False) -> list[Block]:
    """The blocks of `text[start:end]` in order; offsets are those of `text`.

    Everything that is not blank belongs to exactly one block. `mdx` turns indented code off
    and lets headings and fences be indented, as MDX does.
    """
    return _Scanner(text, start, len(text) if end is None else end, mdx).blocks()


def bounded(blocks: list[Block]) -> list[Block]:
    """The blocks, or fewer: past 10,000 very short ones the rest is read as plain paragraphs.

    No page that people read comes near it; a megabyte of `- a` would take seconds otherwise.
    """
    if len(blocks) <= _MAX_BLOCKS or blocks[-1].end - blocks[0].start > _DENSE * len(blocks):
        return blocks
    kept = blocks[:_MAX_BLOCKS]
    begin = blocks[_MAX_BLOCKS].start
    for block, following in pairwise(blocks[_MAX_BLOCKS:]):
        if block.end - begin >= _COARSE:
            kept.append(Block("paragraph", begin, block.end))
            begin = following.start
    kept.append(Block("paragraph", begin, blocks[-1].end))
    return kept


def line_starts(lines: Sequence[str], start: int) -> list[int]:
    """The offset of each line and of what would follow the last, one character between them."""
    return list(map(add, accumulate(map(len, lines), initial=start), count()))


class _Scanner:
    def __init__(self, text: str, start: int, end: int, mdx: bool) -> None:
        self._text = text
        self._lines = text[start:end].split("\n")
        self._starts = line_starts(self._lines, start)
        self._mdx = mdx
        self._blocks: list[Block] = []
        # content columns of the open list items and indented admonitions
        self._columns: list[int] = []
        self._closers: dict[str, int] = {}  # where each closer was last found; -1: nowhere
        self._open_esm = False  # an unbalanced import or export was met
        self._tags = TagScanner(text, end)
        self._handlers: dict[str, Callable[[int, str, int], int]] = {
            "#": self._heading,
            "`": self._fence,
            "~": self._fence,
            ">": self._quote,
            "<": self._html,
            ":": self._directive,
            "!": self._directive,
            "?": self._directive,
            "/": self._directive,
            "=": self._directive,
            "[": self._reference,
            "{": self._brace,
            "$": self._math,
            "i": self._esm,
            "e": self._esm,
            **dict.fromkeys("-*+_", self._marker),
            **dict.fromkeys("0123456789", self._item),
        }

    def blocks(self) -> list[Block]:
        lines = self._lines
        handlers = self._handlers
        total = len(lines)
        at = 0
        while at < total:
            line = lines[at]
            body = line.strip()
            if not body:
                at += 1
                continue
            indent = 0
            if line[0] in " \t":
                prefix = line[: len(line) - len(line.lstrip(" \t"))]
                indent = len(prefix.expandtabs(4)) if "\t" in prefix else len(prefix)
            columns = self._columns
            while columns and indent < columns[-1]:
                columns.pop()
            if indent >= 4 and not self._mdx and indent - (columns[-1] if columns else 0) >= 4:
                at = self._indented(at, indent)
                continue
            handler = handlers.get(body[0])
            after = handler(at, body, indent) if handler else at
            at = after if after > at else self._paragraph(at, indent)
        return self._blocks

    def _add(self, kind: Kind, first: int, after: int, level: int = 0, info: str = "") -> int:
        last = after - 1
        lines = self._lines
        while last > first and not lines[last].strip():
            last -= 1
        end = self._starts[last] + len(lines[last].rstrip())
        self._blocks.append(Block(kind, self._starts[first], end, level, info))
        return after

    # Each handler returns the line after its block, or `at` when the line is something else.

    def _heading(self, at: int, body: str, indent: int) -> int:
        found = _HEADING.match(body)
        if found is None:
            return at
        title = found.group(2) or ""
        if title.endswith("#"):
            title = _CLOSING_HASHES.sub("", title)
        return self._add("heading", at, at + 1, len(found.group(1)), title.strip())

    def _fence(self, at: int, body: str, indent: int) -> int:
        after, info = self._fence_end(at, body)
        return self._add("fence", at, after, info=info) if after > at else at

    def _fence_end(self, at: int, body: str) -> tuple[int, str]:
        found = _FENCE.match(body)
        if found is None:
            return at, ""
        mark = found.group(1) or found.group(3)
        info = (found.group(2) if found.group(1) else found.group(4)) or ""
        lines = self._lines
        for inner in range(at + 1, len(lines)):
            line = lines[inner]
            if mark in line:
                closing = line.strip()
                if closing.startswith(mark) and not closing.strip(mark[0]):
                    return inner + 1, info.strip()
        return len(lines), info.strip()

    def _indented(self, at: int, indent: int) -> int:
        lines = self._lines
        base = self._columns[-1] if self._columns else 0
        after = at + 1
        last = after
        while after < len(lines):
            line = lines[after]
            if line.strip():
                width = len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip(" "))
                if width - base < 4:
                    break
                last = after + 1
            after += 1
        return self._add("code", at, last)

    def _quote(self, at: int, body: str, indent: int) -> int:
        lines = self._lines
        after = at + 1
        while after < len(lines):
            line = lines[after].lstrip()
            if not line or (line[0] != ">" and self._interrupts(after, line)):
                break
            after += 1
        found = _ALERT.match(body)
        return self._add("quote", at, after, info=_label(found.group(1), "") if found else "")

    def _marker(self, at: int, body: str, indent: int) -> int:
        if _is_rule(body):
            return self._add("rule", at, at + 1)
        return self._item(at, body, indent)

    def _item(self, at: int, body: str, indent: int) -> int:
        found = _ITEM.match(body)
        if found is None:
            return at
        gap = len(found.group(2) or " ")
        self._columns.append(indent + len(found.group(1)) + (gap if gap < 5 else 1))
        depth = len(self._columns)
        rest = body[found.end() :]
        if rest.startswith(("```", "~~~")):
            after, info = self._fence_end(at, rest)
            if after > at:
                return self._add("fence", at, after, depth, info)
        return self._add("item", at, self._text_end(at + 1), depth)

    def _directive(self, at: int, body: str, indent: int) -> int:
        if body[0] == ":" and (found := _MYST.match(body)):
            name, title = found.groups()
            info = title.strip() if name in _MYST_TITLED else _label(name, title)
            after = at + 1
            while after < len(self._lines) and _MYST_OPTION.match(self._lines[after]):
                after += 1
            return self._add("admonition", at, after, info=info or " ")
        found = _DIRECTIVE.match(body) if body[0] == ":" else None
        found = found or (_SLASHES.match(body) if body[0] == "/" else None)
        if found:
            name = found.group(1)
            title = next((part for part in found.groups()[1:] if part), "")
            info = _label(name, title) if name else title.strip()
            return self._add("admonition", at, at + 1, info=info)
        found = _MKDOCS.match(body) if body[0] in "!?" else None
        if found:
            info = _label(found.group(1) or "", found.group(2) or "")
        else:
            found = _TAB.match(body) if body[0] == "=" else None
            if found is None:
                return at
            info = found.group(1)
        self._columns.append(indent + 4)
        return self._add("admonition", at, at + 1, info=info)

    def _reference(self, at: int, body: str, indent: int) -> int:
        if _FOOTNOTE.match(body):
            self._columns.append(indent + 2)
            return self._add("footnote", at, self._text_end(at + 1))
        if _DEFINITION.match(body):
            return self._add("definition", at, at + 1)
        return at

    def _brace(self, at: int, body: str, indent: int) -> int:
        if body.startswith("{/*"):
            return self._until("comment", at, "*/}", rest_must_be_blank=True)
        return at

    def _math(self, at: int, body: str, indent: int) -> int:
        if not body.startswith("$$") or (len(body) > 3 and body.endswith("$$")):
            return at
        opening = self._starts[at] + self._lines[at].index("$$") + 2
        return self._until("math", at, "$$", opening, rest_must_be_blank=True)

    def _html(self, at: int, body: str, indent: int) -> int:
        if body.startswith("<!--"):
            after = self._until("comment", at, "-->", rest_must_be_blank=True)
            if after > at:
                return after
        elif len(body) < 2 or body[1] in " \t=-0123456789<" or _AUTOLINK.match(body):
            return at
        verbatim = _VERBATIM_TAG.match(body)
        if verbatim:
            after = self._until("html", at, f"</{verbatim.group(1)}>")
            if after > at:
                return after
        opening = self._starts[at] + len(self._lines[at]) - len(self._lines[at].lstrip())
        closed = self._tags.end_of_tag(opening)
        last = at if closed is None else self._line_at(closed, at)
        return self._add("html", at, self._text_end(last + 1))

    def _esm(self, at: int, body: str, indent: int) -> int:
        """An import or export runs to a blank line, in MDX one outside its brackets."""
        if indent or not _ESM.match(body):
            return at
        lines = self._lines
        spans_blanks = self._mdx and not self._open_esm
        depth = 0
        for inner in range(at, len(lines)):
            line = lines[inner]
            if not line.strip() and (depth <= 0 or not spans_blanks):
                return self._add("esm", at, inner)
            if spans_blanks:
                for bracket in _BRACKETS.findall(_QUOTED.sub("", line)):
                    depth += 1 if bracket in "[({" else -1
        if depth <= 0:
            return self._add("esm", at, len(lines))
        self._open_esm = True
        return self._esm(at, body, indent)

    def _paragraph(self, at: int, indent: int) -> int:
        lines = self._lines
        if "|" in lines[at] and self._is_table(at):
            return self._table(at)
        after = at + 1
        while after < len(lines):
            line = lines[after].strip()
            if not line:
                break
            first = line[0]
            if first in _UNDERLINE and not line.strip(first) and indent < 4:
                title = "\n".join([part.strip() for part in lines[at:after]])
                return self._add("heading", at, after + 1, 1 if first == "=" else 2, title)
            if first in _STARTERS and self._interrupts(after, line):
                break
            if "|" in line and self._is_table(after):
                break
            after += 1
        return self._add("paragraph", at, after)

    def _table(self, at: int) -> int:
        lines = self._lines
        after = at + 2
        while after < len(lines):
            line = lines[after].strip()
            if not line or ("|" not in line and self._interrupts(after, line)):
                break
            after += 1
        return self._add("table", at, after)

    def _is_table(self, at: int) -> bool:
        if at + 1 >= len(self._lines):
            return False
        below = self._lines[at + 1]
        return "|" in below and "-" in below and not below.strip(" \t\r|:-")

    def _text_end(self, after: int) -> int:
        """The line after a run of text lines that begins inside a block."""
        lines = self._lines
        while after < len(lines):
            line = lines[after].strip()
            if not line or (line[0] in _STARTERS and self._interrupts(after, line)):
                break
            if "|" in line and self._is_table(after):
                break
            after += 1
        return after

    def _interrupts(self, at: int, body: str) -> bool:
        """Whether a line ends the text before it without a blank line."""
        first = body[0]
        if first == "#":
            return _HEADING.match(body) is not None
        if first in "`~":
            return _FENCE.match(body) is not None
        if first == ">":
            return True
        if first in "-*+_":
            if _is_rule(body):
                return True
            found = _ITEM.match(body)
            return found is not None and found.end() < len(body)
        if first in "0123456789":
            found = _ITEM.match(body)
            if found is None or found.end() == len(body):
                return False
            return bool(self._columns) or found.group(1)[:-1] == "1"
        if first == ":":
            return body.startswith(":::") and _DIRECTIVE.match(body) is not None
        if first == "!":
            return body.startswith("!!! ")
        if first == "/":
            return body.startswith("///") and _SLASHES.match(body) is not None
        if first == "<":
            return body.startswith("<!--") or (body.startswith("</") and body.endswith(">"))
        return first == "[" and _FOOTNOTE.match(body) is not None

    def _until(
        self,
        kind: Kind,
        at: int,
        closer: str,
        opening: int | None = None,
        *,
        rest_must_be_blank: bool = False,
    ) -> int:
        """Add a block that runs to the line of its closer; `at` when there is none."""
        begin = self._starts[at] if opening is None else opening
        found = self._closers.get(closer, begin - 1 if begin else -2)
        if found == -1:
            return at
        if found < begin:
            found = self._text.find(closer, begin, self._starts[-1])
            self._closers[closer] = found
            if found < 0:
                return at
        last = self._line_at(found, at)
        rest = self._text[found + len(closer) : self._starts[last] + len(self._lines[last])]
        if rest_must_be_blank and rest.strip():
            return at
        return self._add(kind, at, last + 1)

    def _line_at(self, offset: int, at: int) -> int:
        """The line of an offset at or after line `at`."""
        return at + self._text.count("\n", self._starts[at], offset)


def _is_rule(body: str) -> bool:
    first = body[0]
    if first not in "-*_" or body[-1] != first:
        return False
    return body.count(first) >= 3 and not body.strip(first + " \t")


def _label(name: str, title: str) -> str:
    name, title = name.strip(), title.strip()
    kind = name[:1].upper() + name[1:].lower()
    if title and title.lower() != name.lower():
        return f"{kind}: {title}" if kind else title
    return kind
