"""Jupyter notebooks: their cells as one readable text, each character traced to the file.

A chunk's text must be an exact slice of its file, and a notebook keeps its cells as JSON
strings. So a notebook chunk is the slice from its first to its last character in the file,
JSON escapes (and, across lines, the quotes and commas between them) included, while what is
embedded is the unescaped text. A chunk never leaves its cell: outputs and metadata belong to
none. The reader needs only the standard library: no notebook library knows where in the
file a cell stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from quire.errors import PageRejected
from quire.ingestion.blocks import Block, scan

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_LEVELS = frozenset("123456")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Segment(NamedTuple):
    """From `here` in the text on, characters stand at `there` on in the file."""

    here: int
    there: int
    width: int
    """Characters of the file that the first one takes; the others take one each."""


class Notebook(NamedTuple):
    """The cells as one text, where each character stands in the file, and the blocks."""

    text: str
    segments: list[Segment]
    blocks: list[Block]
    breaks: list[int]
    """Indices of the blocks that begin a cell; outputs may stand before them in the file."""


@dataclass(slots=True)
class _Cell:
    kind: str = ""
    level: int = 1
    parts: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """The JSON strings of its source, without their quotes."""


_CELLS = {4: ["cells", ""], 3: ["worksheets", "", "cells", ""]}
"""Where cells stand, by format: the keys on the way, '' in an array."""


def read_notebook(source: str, source_file: str) -> Notebook:
    """Read a notebook of format 4 or 3; raises `PageRejected` with the line for anything else."""
    values = _validated(source, source_file)
    language = _language(values)
    out: list[str] = []
    segments: list[Segment] = []
    ranges: list[tuple[_Cell, int, int]] = []
    length = 0
    for cell in _cells(source, _CELLS[values["nbformat"]]):
        begin = length
        for start, end in cell.parts:
            text = _unescape(source, start, end, length, segments)
            out.append(text)
            length += len(text)
        ranges.append((cell, begin, length))
        out.append("\n\n")
        length += 2
    text = "".join(out)
    blocks: list[Block] = []
    breaks: list[int] = []
    for cell, start, end in ranges:
        breaks.append(len(blocks))
        blocks.extend(_blocks(text, cell, start, end, language))
    return Notebook(text, segments, blocks, breaks)


def _blocks(text: str, cell: _Cell, start: int, end: int, language: str) -> list[Block]:
    inside = text[start:end].rstrip()
    stop = start + len(inside)
    if cell.kind == "code":
        return [Block("code", start, stop, 0, language)] if inside else []
    if cell.kind == "heading":  # format 3
        return [Block("heading", start, stop, cell.level, inside.strip())] if inside else []
    return scan(text, start, end)


def _validated(source: str, source_file: str) -> dict[str, Any]:
    try:
        loaded: Any = json.loads(source.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise PageRejected(
            f"is not a notebook: {error.msg}", source_file=source_file, line=error.lineno
        ) from error
    except RecursionError as error:
        raise PageRejected("is nested too deeply", source_file=source_file) from error
    values = _table(loaded)
    path = _CELLS.get(values.get("nbformat", 0)) if _is_number(values.get("nbformat")) else None
    if path is None or not isinstance(values.get(path[0]), list):
        raise PageRejected(
            "is not a notebook of format 3 or 4; convert it with: jupyter nbconvert --to notebook",
            source_file=source_file,
            line=1,
        )
    return values


def _language(values: dict[str, Any]) -> str:
    metadata = _table(values.get("metadata"))
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        name = _table(metadata.get(section)).get(key)
        if isinstance(name, str) and 0 < len(name) < 40:
            return name
    return "python"


def _table(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _cells(source: str, path: list[str]) -> Iterator[_Cell]:
    """The cells in order, found by walking the JSON tokens with their offsets.

    `path` holds the keys on the way to them. Format 3 calls the source of code `input`.
    """
    open_containers: list[str] = []
    keys: list[str] = []  # of each open container; arrays have an empty one
    depth = len(path) + 1  # in a cell
    after_colon = False
    cell = _Cell()
    for found in _TOKEN.finditer(source):
        token = found.group()
        first = token[0]
        if first in "{[":
            open_containers.append(first)
            keys.append("")
            after_colon = False
            if len(keys) == depth and keys[:-1] == path and first == "{":
                cell = _Cell()
        elif first in "}]":
            if len(keys) == depth and keys[:-1] == path and first == "}":
                yield cell
            open_containers.pop()
            keys.pop()
            after_colon = False
        elif first == ":":
            after_colon = True
        elif first == ",":
            after_colon = False
        elif first == '"':
            if open_containers and open_containers[-1] == "{" and not after_colon:
                keys[-1] = cast("str", json.loads(token))
            elif depth <= len(keys) <= depth + 1 and keys[: depth - 1] == path:
                key = keys[depth - 1]
                if key == "source" or (key == "input" and depth > 3):
                    cell.parts.append((found.start() + 1, found.end() - 1))
                elif key == "cell_type" and len(keys) == depth:
                    cell.kind = token[1:-1]
        elif len(keys) == depth and keys[:-1] == path and keys[-1] == "level":
            cell.level = int(token) if token in _LEVELS else 6


def _unescape(source: str, start: int, end: int, here: int, segments: list[Segment]) -> str:
    """The text of a JSON string, with one segment per escape and per run between them."""
    out: list[str] = []
    at = start
    for found in _ESCAPE.finditer(source, start, end):
        if found.start() > at:
            segments.append(Segment(here, at, 1))
            out.append(source[at : found.start()])
            here += found.start() - at
        char = _SURROGATE.sub("\ufffd", cast("str", json.loads(f'"{found.group()}"')))
        segments.append(Segment(here, found.start(), found.end() - found.start()))
        out.append(char)
        here += 1
        at = found.end()
    if at < end:
        segments.append(Segment(here, at, 1))
        out.append(source[at:end])
    return "".join(out)
