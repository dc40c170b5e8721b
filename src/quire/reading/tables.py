"""Tables as they are read aloud: each row by itself, each cell after the name of its column.

The reader was taught on sentences. In a row of Markdown it has to find the header again, many
rows above; read aloud (`Jazzy: End of support is May 2029.`) it finds the right row more often.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

_TABLE: Final = re.compile(
    r"^[ \t>]*+(?P<header>[^\n]*\|[^\n]*+)\n"
    r"[ \t>]*+\|?[ \t]*+:?-+:?[ \t]*+(?:\|[ \t]*+:?-+:?[ \t]*+)+\|?[ \t]*+(?:\n|\Z)"
    r"(?P<rows>(?:[^\n]*\|[^\n]*+(?:\n|\Z))+)",
    re.MULTILINE,
)
_MARK: Final = re.compile(r"(?<!\\)\|")


@dataclass(slots=True)
class Spoken:
    """A text to be read, and where its characters stand in the source."""

    text: str = ""
    _here: list[int] = field(default_factory=list[int])
    """Where each part begins in `text`, …"""
    _there: list[int] = field(default_factory=list[int])
    """… and in the source."""
    _copied: list[bool] = field(default_factory=list[bool])
    """Whether it stands there; what was added is as if it were at one place."""

    def places(self, offsets: NDArray[np.int32]) -> NDArray[np.int32]:
        """Offsets into the source for offsets into the text."""
        here, there = np.array(self._here, np.int32), np.array(self._there, np.int32)
        copied = np.array(self._copied, np.int32)
        part = np.searchsorted(here, offsets[:, 0], side="right") - 1
        end = np.searchsorted(here, offsets[:, 1], side="left") - 1
        starts = there[part] + (offsets[:, 0] - here[part]) * copied[part]
        ends = there[end] + (offsets[:, 1] - here[end]) * copied[end]
        return np.stack((starts, np.maximum(starts, ends)), axis=1).astype(np.int32)

    def copy(self, source: str, start: int, end: int) -> None:
        """Take a range of the source over as it is."""
        self._part(source[start:end], start, copied=True)

    def add(self, words: str, place: int) -> None:
        """Say something that the source doesn't, at a place of it."""
        self._part(words, place, copied=False)

    def _part(self, words: str, place: int, *, copied: bool) -> None:
        if words:
            self._here.append(len(self.text))
            self._there.append(place)
            self._copied.append(copied)
            self.text += words


def spoken(source: str) -> Spoken | None:
    """The text with its tables read aloud; None if it has none."""
    tables = list(_TABLE.finditer(source)) if "|" in source and "--" in source else []
    if not tables:
        return None
    said, at = Spoken(), 0
    for table in tables:
        said.copy(source, at, table.start())
        names = [source[start:end] for start, end in _cells(source, *table.span("header"))]
        line = table.start("rows")
        for row in table["rows"].splitlines(keepends=True):
            _say_row(said, source, _cells(source, line, line + len(row)), names)
            line += len(row)
        at = table.end()
    said.copy(source, at, len(source))
    return said


def _say_row(
    said: Spoken, source: str, cells: Sequence[tuple[int, int]], names: Sequence[str]
) -> None:
    spoken_cells = [(*cell, i) for i, cell in enumerate(cells) if cell[0] < cell[1]]
    for start, end, column in spoken_cells:
        name = names[column] if 0 < column < len(names) else ""
        said.add(f"{name} is " if name else "", start)
        said.copy(source, start, end)
        last = column == spoken_cells[-1][2]
        said.add(".\n" if last else ": " if column == spoken_cells[0][2] else "; ", end)


def _cells(source: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where the cells of a line stand, without the white space around them."""
    line = source[start:end].rstrip("\r\n")
    body = line.lstrip(" \t>")
    begin = start + len(line) - len(body)
    if body.startswith("|"):
        begin, body = begin + 1, body[1:]
    found: list[tuple[int, int]] = []
    at = 0
    for part in _MARK.split(body):
        left = begin + at + len(part) - len(part.lstrip())
        found.append((left, max(left, begin + at + len(part.rstrip()))))
        at += len(part) + 1
    if len(found) > 1 and found[-1][0] == found[-1][1]:
        found.pop()  # after the closing mark
    return found
