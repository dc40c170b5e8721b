"""The values a book allows for its modules, tiers, levels, layers, chapters and lessons."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_LEVEL = re.compile(r"\b[ABC][12]\b")
_LAYER = re.compile(r"\bL[1-9]\b")
_NUMBER = re.compile(r"\d{1,9}")


def _no_aliases() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taxonomy:
    """What `quire.toml` declares; an empty tuple or None means that any value is allowed."""

    modules: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=_no_aliases)
    """Folder or front-matter name → module, such as `module-1-ros2` → `ros2`."""
    tiers: tuple[int, ...] = ()
    proficiency_levels: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    chapters: tuple[int, int] | None = None
    """Lowest and highest chapter number."""
    lessons: tuple[int, int] | None = None

    @property
    def default_tier(self) -> int:
        """Tier 1, or the lowest declared one."""
        return 1 if not self.tiers or 1 in self.tiers else min(self.tiers)

    @property
    def default_level(self) -> str:
        """A2, or the first declared level."""
        levels = self.proficiency_levels
        return "A2" if not levels or "A2" in levels else levels[0]

    @property
    def default_layer(self) -> str:
        """L1, or the first declared layer."""
        return "L1" if not self.layers or "L1" in self.layers else self.layers[0]

    def module(self, name: str) -> str | None:
        """The module a name stands for, or None when the book declares no such module."""
        module = self.aliases.get(name, name)
        return module if not self.modules or module in self.modules else None

    def tier(self, value: object) -> int | None:
        """The tier a front-matter value (`2`, `"2"`, `"Tier 2"`) means, or None."""
        if isinstance(value, bool):
            return None
        found = _NUMBER.search(str(value))
        if found is None:
            return None
        tier = int(found.group())
        return tier if not self.tiers or tier in self.tiers else None

    def level(self, value: object) -> str | None:
        """The first allowed level in a value; `A2-B1` means A2."""
        return _first_allowed(str(value), self.proficiency_levels, _LEVEL)

    def layer(self, value: object) -> str | None:
        """The first allowed layer in a value; `L2 (guided)` means L2."""
        return _first_allowed(str(value), self.layers, _LAYER)

    def chapter_allowed(self, number: int) -> bool:
        """Whether a chapter number is inside the declared range."""
        return self.chapters is None or self.chapters[0] <= number <= self.chapters[1]

    def lesson_allowed(self, number: int) -> bool:
        """Whether a lesson number is inside the declared range."""
        return self.lessons is None or self.lessons[0] <= number <= self.lessons[1]


def _first_allowed(value: str, allowed: tuple[str, ...], usual: re.Pattern[str]) -> str | None:
    value = value.strip()
    if not allowed:
        found = usual.search(value)
        return found.group() if found else (value[:40] or None)
    if value in allowed:
        return value
    words = re.split(r"[^\w]+", value)
    return next((word for word in words if word in allowed), None)
