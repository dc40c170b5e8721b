"""Which language a page is written in, as far as its path tells."""

from __future__ import annotations

import re
from pathlib import Path

# Codes that sites use for translated trees; two-letter topic folders ("go", "vi") stay out.
_CODES = frozenset(
    "ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv nb nl pl pt ro ru "
    "sk sl sr sv ta te th tr uk ur zh".split()
)
_LOCALE = re.compile(r"([a-z]{2})(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2,4}))?\Z")


def is_locale(name: str) -> bool:
    """Whether a folder name reads as a locale: `ur`, `pt-BR`, `zh_Hans`."""
    found = _LOCALE.match(name)
    return found is not None and found.group(1) in _CODES


def locale_of_root(root: Path) -> str | None:
    """The locale of a tree that is itself a translation.

    `i18n/ur/docusaurus-plugin-content-docs/current` and `docs/de` are such roots.
    """
    parts = root.parts
    if "i18n" in parts:
        at = len(parts) - 1 - parts[::-1].index("i18n")
        if at + 1 < len(parts) and is_locale(parts[at + 1]):
            return parts[at + 1]
    generic = [part for part in parts[-2:] if part not in ("docs", "src")]
    return generic[-1] if generic and is_locale(generic[-1]) else None


def locales_of_tree(root: Path, *, alone: bool = False) -> tuple[str, ...]:
    """Top-level folders that hold one translation each; one alone counts only if `alone`."""
    names = sorted(
        entry.name
        for entry in root.iterdir()
        if is_locale(entry.name) and entry.is_dir() and not entry.is_symlink()
    )
    return tuple(names) if len(names) > 1 or (alone and names) else ()
