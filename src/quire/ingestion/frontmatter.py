"""The metadata in front of a page: YAML between `---`, TOML between `+++`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from quire.books import safe_yaml
from quire.errors import PageRejected

MAX_CHARACTERS = 64 * 1024

_OPENING = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n")
_TOML_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The values, and where the page's body starts (after the closing line)."""

    values: Mapping[str, Any]
    body_start: int


def read_front_matter(text: str, source_file: str) -> FrontMatter:
    """The front matter of a page, safely.

    A byte-order mark may stand before it. No front matter, front matter that is never closed
    and a `---` rule followed by prose give no values and a body that starts at the top.
    Raises `PageRejected` with the file's line for aliases, anchors, tags, duplicate keys, deep
    nesting, more than 64 kB and plain syntax errors.
    """
    top = 1 if text.startswith("\ufeff") else 0
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter({}, top)
    mark = opening.group(1)
    closing = re.compile(rf"^{re.escape(mark)}[ \t]*\r?$", re.MULTILINE).search(text, opening.end())
    if closing is None:
        return FrontMatter({}, top)
    raw = text[opening.end() : closing.start()]
    if len(raw) > MAX_CHARACTERS:
        raise PageRejected(
            f"front matter is longer than {MAX_CHARACTERS:,} characters",
            source_file=source_file,
            line=1,
        )
    loaded: Any = _toml(raw, source_file) if mark == "+++" else _yaml(raw, source_file)
    if loaded is None:
        return FrontMatter({}, closing.end())
    if not isinstance(loaded, dict):
        return FrontMatter({}, top)  # a rule, prose, and another rule
    return FrontMatter(cast("dict[str, Any]", loaded), closing.end())


def _yaml(raw: str, source_file: str) -> Any:
    try:
        return safe_yaml.load(raw.replace("\r\n", "\n"))
    except safe_yaml.YamlRefused as error:
        line = None if error.line is None else error.line + 2
        raise PageRejected(
            f"front matter: {error.reason}", source_file=source_file, line=line
        ) from error


def _toml(raw: str, source_file: str) -> Any:
    depth = deepest = 0
    for char in _TOML_STRING.sub("", raw):
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    if deepest > safe_yaml.MAX_DEPTH:
        raise PageRejected("front matter is nested too deeply", source_file=source_file, line=1)
    try:
        return tomllib.loads(raw.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        raise PageRejected(
            f"front matter: {error}",
            source_file=source_file,
            line=int(found.group(1)) + 1 if found else 1,
        ) from error
