"""Markdown that is written piece by piece, each copied run of characters traced to the file."""

from __future__ import annotations

import re
from typing import Final

from quire.models import Rendition, Run

_BLANKS: Final = re.compile(r"[ \t]*")

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


def margin_of(text: str, at: int) -> int:
    """Columns before what stands on the line of this place."""
    line = text.rfind("\n", 0, at) + 1
    blanks = _BLANKS.match(text, line)
    return blanks.end() - line if blanks else 0
