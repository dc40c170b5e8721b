"""The pages that introduce a book, told from their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

_NAMES: Final = (
    "introduction",
    "intro",
    "index",
    "readme",
    "home",
    "welcome",
    "preface",
    "overview",
    "about",
    "foreword",
    "title-page",
)
"""The most telling first."""
_NAME: Final = re.compile(
    rf"(?:ch(?:apter)?)?[\d._-]*(?P<name>{'|'.join(_NAMES)})(?:[-_.].*)?", re.IGNORECASE
)
_HIDDEN: Final = ("_", ".")


def front_pages(source_files: Iterable[str]) -> tuple[str, ...]:
    """Those that introduce the whole book, the most telling first; none if no name says so.

    Chapters have introductions, too: only the names nearest to the book's root count.
    """
    every = [PurePosixPath(file) for file in source_files]
    named = [path for path in every if _NAME.fullmatch(path.stem) and not _is_hidden(path)]
    if not named:
        return (str(every[0]),) if len(every) == 1 else ()
    top = min(len(path.parts) for path in named)
    front = [path for path in named if len(path.parts) == top]
    inside = [path for path in front if _NAME.fullmatch(path.parent.name)]
    return tuple(str(path) for path in sorted(inside or front, key=_telling))


def _telling(path: PurePosixPath) -> tuple[int, str]:
    match = _NAME.fullmatch(path.stem)
    return (_NAMES.index(match["name"].lower()) if match else len(_NAMES), str(path))


def _is_hidden(path: PurePosixPath) -> bool:
    return any(part.startswith(_HIDDEN) for part in path.parts)
