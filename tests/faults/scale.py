"""Fast in `make test`, long in `make soak`; what a test measured is noted for docs/trust.md."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

LONG = bool(os.environ.get("QUIRE_SOAK"))
SEED = int(os.environ.get("QUIRE_SOAK_SEED", "20261115"))


def scale(fast: int, long: int) -> int:
    """How often, in this kind of run."""
    return long if LONG else fast


def note(test: str, **figures: Any) -> None:
    """Append what was measured to the file that `make soak` names."""
    if path := os.environ.get("QUIRE_SOAK_FIGURES"):
        line = {"test": test, "date": time.strftime("%Y-%m-%d"), "seed": SEED, **figures}
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
