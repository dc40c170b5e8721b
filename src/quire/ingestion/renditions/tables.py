"""The cells of reStructuredText's tables: drawn with characters, or written as lists of lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from quire.ingestion.renditions.writer import Range
from quire.ingestion.restructured import TABLE
from quire.ingestion.sentences import line_ranges

Rows = list[list[list[Range]]]
"""Rows of cells of lines."""

OPTION: Final = re.compile(r"[ \t]*:[\w -]{1,40}:(?:\s|\Z)")
"""A directive's option."""
_ROW: Final = re.compile(r"[ \t]*[*+-][ \t]+(?P<dash>[*+-])(?:[ \t]+|\Z)")
_CELL: Final = re.compile(r"[ \t]*(?P<dash>[*+-])(?:[ \t]+|\Z)")


def listed_rows(text: str, start: int, end: int) -> Rows:
    """The rows of a `list-table`: a list of lists."""
    rows: Rows = []
    column = 0  # of the dashes before cells; deeper ones are lists inside a cell
    for a, b in line_ranges(text, start, end):
        line = text[a:b].rstrip()
        if not line.strip() or OPTION.match(line):
            continue
        mark = _ROW.match(line)
        if mark and (not rows or mark.start("dash") == column):
            rows.append([])
            column = mark.start("dash")
        elif rows:
            mark = _CELL.match(line)
            mark = mark if mark and mark.start("dash") == column else None
        else:
            continue
        if mark:
            rows[-1].append([])
        at = mark.end() if mark else len(line) - len(line.lstrip())
        body = line[at:].removeprefix("| ")
        if body and rows[-1] and not body.startswith(".. "):
            rows[-1][-1].append((a + len(line) - len(body), a + len(line)))
    return rows


@lru_cache(maxsize=16)
def drawn_rows(table: str) -> Rows:
    """The rows of a table that is drawn with characters; none if its cells can't be told.

    The slices of a long table ask one after the other.
    """
    found = line_ranges(table, 0, len(table))
    lines = [(a, table[a:b].rstrip()) for a, b in found if table[a:b].strip()]
    return _grid_rows(lines) if lines[0][1].lstrip()[0] == "+" else _ruled_rows(lines)


def _grid_rows(lines: Sequence[tuple[int, str]]) -> Rows:
    """The rows of a table whose cells are framed; none where a cell spans rows.

    What spans all columns stands in the first one.
    """
    corners = [i for i, sign in enumerate(lines[0][1]) if sign == "+"]
    rows: Rows = []
    fresh = True
    for start, line in lines:
        if not line.strip(" +-="):
            fresh = True
            continue
        inner = [i for i in corners[1:-1] if line[i : i + 1] != "|"]
        if len(line) != corners[-1] + 1 or line[corners[0]] + line[-1] != "||":
            return []
        if any(line[i] == "+" for i in inner):
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


def _ruled_rows(lines: Sequence[tuple[int, str]]) -> Rows:
    """The rows of a table with rules above, below and under its header."""
    columns = [found.span() for found in re.finditer(r"=+", lines[0][1])]
    rules = {number for number, (_, line) in enumerate(lines) if TABLE.match(line.strip())}
    rows: Rows = [] if len(rules) > 2 else [[[] for _ in columns]]
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
