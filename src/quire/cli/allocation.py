"""How a process that runs for weeks takes memory from the system."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from typing import Final

_ARENA_MAX: Final = -8
"""`M_ARENA_MAX` of glibc's `mallopt`."""
_ARENAS: Final = 2


def share_arenas() -> None:
    """Let all threads take memory from two pools; glibc would give eight a core.

    What one thread allocates and another frees stays scattered over the pools: a book that
    was ingested 350 times over took 27 MB more, so it takes 7.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library has no such setting
            ctypes.CDLL(None).mallopt(_ARENA_MAX, _ARENAS)
