"""Quire answers questions about a book, only from its pages, with verbatim citations.

async with Library.open() as library:
    await library.ingest("docs")
    answer = await library.ask("How do nodes communicate?")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from quire.errors import QuireError
    from quire.models import Answer, Chunk, Citation, Confidence, Filters, Passage, Retrieval
    from quire.settings import Settings, load_settings
    from quire.wiring import Ask, Library

__all__ = [
    "Answer",
    "Ask",
    "Chunk",
    "Citation",
    "Confidence",
    "Filters",
    "Library",
    "Passage",
    "QuireError",
    "Retrieval",
    "Settings",
    "load_settings",
    "__version__",
]

_HOMES = {
    "Library": "quire.wiring",
    "Ask": "quire.wiring",
    "QuireError": "quire.errors",
    "Settings": "quire.settings",
    "load_settings": "quire.settings",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that `import quire` (and `quire --help`) stay instant."""
    if name not in __all__:
        raise AttributeError(f"module 'quire' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "quire.models")), name)
