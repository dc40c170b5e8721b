"""Settings → Library: opens every resource, closes it; the only place that picks adapters."""

from __future__ import annotations

from quire.wiring.library import Library
from quire.wiring.values import (
    LOCAL_OWNER,
    Ask,
    BookSummary,
    PageSummary,
    PartHealth,
    SelectionClaim,
)

__all__ = [
    "LOCAL_OWNER",
    "Ask",
    "BookSummary",
    "Library",
    "PageSummary",
    "PartHealth",
    "SelectionClaim",
]
