"""Markdown that is written piece by piece, each copied run of characters traced to the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quire.models import Rendition, Run

_BLANKS: Final = re.compile(r"[ \t]*")
_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,30}")
_TICKS: Final = re.compile(r"`{3,}")
_LONGEST_LINE: Final = 2_000

Range = tuple[int, int]


class Writer:
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
        """What was written."""
        return Rendition("".join(self._parts), tuple(self._runs))

    def _write(self, words: str) -> None:
        if self._gap:
            words, self._gap = self._gap + words, ""
        self._parts.append(words)
        self._length += len(words)


def column_of(text: str, at: int) -> int:
    """Columns before a place on its line; 0 far inside a very long one."""
    line = text.rfind("\n", max(0, at - _LONGEST_LINE), at) + 1
    return at - line if line or at < _LONGEST_LINE else 0


def margin_of(text: str, at: int) -> int:
    """Columns before what stands on the line of this place."""
    line = at - column_of(text, at)
    blanks = _BLANKS.match(text, line)
    return blanks.end() - line if blanks else 0


def unpadded(text: str, lines: Sequence[Range]) -> list[Range]:
    """The lines without blank ones before and behind."""
    said = [number for number, (a, b) in enumerate(lines) if not text[a:b].isspace()]
    return list(lines[said[0] : said[-1] + 1]) if said else []


def language_of(info: str) -> str:
    """What a fence may name as its language; empty for anything else."""
    return info if _LANGUAGE.fullmatch(info) else ""


def fence_for(code: str) -> str:
    """Marks that no line of the code closes."""
    longest = max(map(len, _TICKS.findall(code)), default=0)
    return "`" * max(3, longest + 1)
