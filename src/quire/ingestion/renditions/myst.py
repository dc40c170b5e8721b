"""Markdown with directives and roles (MyST) as plain Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quire.ingestion.blocks import Block
from quire.ingestion.rendering import MYST, MYST_CODE, MYST_PROSE, MYST_SILENT
from quire.ingestion.renditions.restructured import Restructured
from quire.ingestion.renditions.tables import OPTION
from quire.ingestion.renditions.writer import Range, Writer, fence_for, language_of, unpadded
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
            mark = fence_for(self._text[first:last])
            self._writer.add(f"{mark}{language_of(argument)}\n")
            self._copy(first, last)
            self._writer.add(f"\n{mark}")
        elif name in MYST_PROSE:
            self._prose(first, last)
        else:
            self._copy(start, end)

    def _body(self, block: Block, start: int, end: int) -> list[Range]:
        """The lines of a directive between its fences and behind its options."""
        lines = line_ranges(self._text, start, end)
        first, last = 0, len(lines)
        if start == block.start:
            first = 1
            while first < last and OPTION.match(self._text, *lines[first]):
                first += 1
        if first < last and end == block.end and _FENCE.match(self._text, *lines[last - 1]):
            last -= 1
        body = unpadded(self._text, lines[first:last])
        if body:
            begin, stop = body[-1]
            body[-1] = (begin, begin + len(self._text[begin:stop].rstrip()))
        return body

    def _prose(self, start: int, end: int) -> None:
        """The text with the words of its roles."""
        at = start
        roles = Restructured(self._writer, self._text, start, end, base=self._start)
        for found in _ROLE.finditer(self._text, start, end):
            self._copy(at, found.start())
            roles.role(found["role"], *found.span("said"))
            at = found.end()
        self._copy(at, end)

    def _copy(self, start: int, end: int) -> None:
        if start < end:
            self._writer.copy(self._text[start:end], start - self._start)


def _directive(block: Block) -> re.Match[str] | None:
    return MYST.match(block.info) if block.kind == "fence" and block.info[:1] == "{" else None
