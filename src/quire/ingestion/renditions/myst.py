"""Markdown with directives and roles (MyST) as plain Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quire.ingestion.blocks import Block
from quire.ingestion.rendering import MYST, MYST_CODE, MYST_PROSE, MYST_SILENT
from quire.ingestion.renditions.restructured import CODE_ROLES, TARGET, Restructured
from quire.ingestion.renditions.tables import OPTION
from quire.ingestion.renditions.writer import Range, Writer
from quire.ingestion.restructured import scan_restructured
from quire.ingestion.sentences import line_ranges

_ROLE: Final = re.compile(r"\{(?P<role>[a-z][\w+.:-]{1,40})\}`(?P<said>[^`\n]{1,400}+)`")
_FENCE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_PROSE: Final = frozenset({"paragraph", "item", "quote", "table", "footnote"})


def has_myst(text: str, blocks: Sequence[Block], start: int, end: int) -> bool:
    """Whether the slice has a directive in a fence, or a role."""
    return any(_directive(block) for block in blocks) or bool(_ROLE.search(text, start, end))


class Myst:
    """Writes one slice of it; all but directives and roles stays as it is."""

    def __init__(self, writer: Writer, text: str, start: int, end: int) -> None:
        self._writer = writer
        self._text = text
        self._start = start
        self._end = end

    def write(self, blocks: Sequence[Block]) -> None:
        """Write the slice, of which these are the blocks."""
        at = self._start
        for block in blocks:
            start, end = max(block.start, at), min(block.end, self._end)
            found = _directive(block)
            if start >= end or not (found or block.kind in _PROSE):
                continue
            self._copy(at, start)
            if found:
                self._block(block, found[1], found[2].strip(), start, end)
            else:
                self._prose(start, end)
            at = end
        self._copy(at, self._end)

    def _block(self, block: Block, name: str, argument: str, start: int, end: int) -> None:
        body = self._body(block, start, end)
        if name in MYST_SILENT or not body:
            return
        first, last = body[0][0], body[-1][1]
        if name == "eval-rst":
            inner = Restructured(self._writer, self._text, first, last, base=self._start)
            inner.write(
                [
                    found._replace(start=found.start + first, end=found.end + first)
                    for found in scan_restructured(self._text[first:last])
                ]
            )
        elif name in MYST_CODE:
            mark = "~~~~" if "```" in self._text[first:last] else "```"
            language = argument if re.fullmatch(r"[\w+#.-]{1,30}", argument) else ""
            self._writer.add(f"{mark}{language}\n")
            self._copy(first, last)
            self._writer.add(f"\n{mark}")
        elif name in MYST_PROSE:
            self._prose(first, last)
        else:
            self._copy(start, end)

    def _body(self, block: Block, start: int, end: int) -> list[Range]:
        """The lines of a directive between its fences and behind its options."""
        lines = line_ranges(self._text, start, end)
        if start == block.start:
            lines = lines[1:]
            while lines and OPTION.match(self._line(lines[0])):
                lines = lines[1:]
        if lines and end == block.end and _FENCE.match(self._line(lines[-1])):
            lines = lines[:-1]
        while lines and not self._line(lines[0]).strip():
            lines = lines[1:]
        while lines and not self._line(lines[-1]).strip():
            lines = lines[:-1]
        if lines:
            begin = lines[-1][0]
            lines[-1] = (begin, begin + len(self._line(lines[-1]).rstrip()))
        return lines

    def _line(self, line: Range) -> str:
        return self._text[line[0] : line[1]]

    def _prose(self, start: int, end: int) -> None:
        """The text with the words of its roles."""
        at = start
        for found in _ROLE.finditer(self._text, start, end):
            self._copy(at, found.start())
            begin, stop = found.span("said")
            target = TARGET.search(found["said"])
            stop = begin + target.start() if target else stop
            begin += self._text[begin] in "~!"
            if self._text[begin - 1] == "~":
                begin = max(begin, self._text.rfind(".", begin, stop) + 1)
            tick = "`" if found["role"].rpartition(":")[2] in CODE_ROLES else ""
            self._writer.add(tick)
            self._copy(begin, stop)
            self._writer.add(tick)
            at = found.end()
        self._copy(at, end)

    def _copy(self, start: int, end: int) -> None:
        if start < end:
            self._writer.copy(self._text[start:end], start - self._start)


def _directive(block: Block) -> re.Match[str] | None:
    return MYST.match(block.info) if block.kind == "fence" and block.info[:1] == "{" else None
