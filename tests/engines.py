"""The processes in which servers have their embedded index, found from outside."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from quire.index import apart


def engines(root: Path) -> list[int]:
    """Those that were started for this folder; a killed one no longer has a command line."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            words = (folder / "cmdline").read_text().split("\0")
            if str(root) in words and any(apart.__name__ in word for word in words):
                found.append(int(folder.name))
    return found
