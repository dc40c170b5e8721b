"""The files under an embedded store: that there is room for them, and that they are durable."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from quire.errors import IndexUnavailable

LEAST_FREE: Final = 64_000_000
"""Bytes the disk must have left: the engine writes through memory maps, and a map that finds no
room for a page ends the whole process (SIGBUS) instead of failing the write."""
LEAST_TO_OPEN: Final = 4_000_000
"""The same to open a book, whose log may have to be replayed."""
READY: Final = "ready"
"""The file that says a shard was created to the end; a folder without it holds nothing. In it
stands how many points were ever written."""


def check_room(folder: Path, needed: int = LEAST_FREE) -> None:
    """Raise while there is still room, before a write that might not find any."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise IndexUnavailable(
            f"the disk of the index is nearly full ({free / 1e6:.0f} MB left, "
            f"{needed / 1e6:.0f} MB needed); free some space and try again"
        )


def remove_shard(folder: Path) -> None:
    """Remove a shard's folder, first what makes it count as one."""
    unready(folder)
    shutil.rmtree(folder, ignore_errors=True)


def unready(folder: Path) -> None:
    """Let the folder count as nothing from now on."""
    if folder.is_dir():
        (folder / READY).unlink(missing_ok=True)
        sync_folder(folder)


def sync_file(path: Path) -> None:
    """Make the file's content durable, also what was written through a memory map."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Make the folder's entries durable (where the system can)."""
    if os.name == "posix":
        sync_file(path)
