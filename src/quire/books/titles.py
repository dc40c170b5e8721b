"""What folders are called: sidebar labels, the title of their overview page, or their name."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, cast

from quire.books import safe_yaml
from quire.books.layouts import read_text

_OVERVIEWS = tuple(
    f"{stem}{suffix}"
    for stem in ("README", "index", "Readme", "readme")
    for suffix in (".md", ".mdx")
)
_FRONT_TITLE = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?:.*\n){0,60}?title:[ \t]*(\S.{0,300})")
_FIRST_HEADING = re.compile(r"^# +(\S.{0,300})$", re.MULTILINE)
_HEADING_ID = re.compile(r"\s*\{\s*#[^}]*\}\s*$")
_NUMBERED = re.compile(
    r"(?i)(?:\d+[-_. ]+)?(module|chapter|part|week|unit)[-_ ]?(\d+)(?:[-_. ]+(.+))?\Z"
)
_PREFIX = re.compile(r"\A\d+\s*[-_.]+\s*")
_MAX_FOLDERS = 5_000


def folder_titles(root: Path) -> dict[str, str]:
    """Titles of the folders below a root that say one themselves, by posix path.

    `_category_.json`/`.yml` labels come first, then the title of the folder's `README` or
    `index` page. Folders that say nothing are absent: `title_from_name` covers them.
    """
    titles: dict[str, str] = {}
    seen = 0
    for path, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        if "node_modules" in folders:
            folders.remove("node_modules")
        seen += 1
        if seen > _MAX_FOLDERS:
            break
        folder = Path(path)
        if folder == root:
            continue
        title = _label(folder, names, root) or _overview_title(folder, names, root)
        relative = folder.relative_to(root).as_posix()
        if title and relative.isprintable():
            titles[relative] = title
    return titles


def title_from_name(name: str) -> str:
    """A readable title from a name: `chapter-6-isaac-sim` → `Chapter 6: Isaac sim`."""
    numbered = _NUMBERED.match(name)
    if numbered:
        kind, number, rest = numbered.groups()
        head = f"{kind.capitalize()} {int(number)}"
        return f"{head}: {_words(rest)}" if rest else head
    return _words(_PREFIX.sub("", name, count=1) or name)


def clean_title(title: str) -> str | None:
    """A title without what can't be stored; None when nothing is left."""
    return title.encode("utf-8", "ignore").decode("utf-8").strip() or None


def _words(name: str) -> str:
    words = re.sub(r"[-_\s]+", " ", name).strip()
    return words[:1].upper() + words[1:]


def _label(folder: Path, names: list[str], root: Path) -> str | None:
    for name in ("_category_.json", "_category_.yml", "_category_.yaml"):
        if name not in names:
            continue
        text = read_text(folder / name, root) or ""
        try:
            loaded: Any = json.loads(text) if name.endswith("json") else safe_yaml.load(text)
        except (ValueError, RecursionError):
            return None
        if isinstance(loaded, dict):
            label: Any = cast("dict[str, Any]", loaded).get("label")
            return clean_title(label) if isinstance(label, str) else None
    return None


def _overview_title(folder: Path, names: list[str], root: Path) -> str | None:
    name = next((name for name in _OVERVIEWS if name in names), None)
    text = read_text(folder / name, root) if name else None
    if text is None:
        return None
    head = text[:8_000]
    found = _FRONT_TITLE.match(head)
    if found:
        return found.group(1).strip().strip("\"'").strip() or None
    found = _FIRST_HEADING.search(head)
    return _HEADING_ID.sub("", found.group(1)).replace("`", "").strip() or None if found else None
