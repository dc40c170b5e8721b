"""From the names and values a caller sends to checked `Filters`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quire.errors import InvalidRequest
from quire.models import Filters


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidRequest(f"filters.{name}: must be a text", field=f"filters.{name}")
    return value


def _texts(name: str, value: Any) -> tuple[str, ...]:
    values: list[Any] = list(value) if isinstance(value, list | tuple) else [value]  # pyright: ignore[reportUnknownArgumentType]
    if not values:
        raise InvalidRequest(f"filters.{name}: the list is empty", field=f"filters.{name}")
    return tuple(_text(name, item) for item in values)


def _number(name: str, value: Any) -> int:
    try:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError
        return int(value)
    except ValueError:
        raise InvalidRequest(
            f"filters.{name}: must be a whole number", field=f"filters.{name}"
        ) from None


# wire name → field of Filters and how its value is read
_NAMES: dict[str, tuple[str, Callable[[str, Any], Any]]] = {
    "source_url": ("source_url", _texts),
    "page_title": ("page_title", _texts),
    "section_heading": ("section_heading", _texts),
    "source_file": ("source_file", _texts),
    "module": ("module", _text),
    "hardware_tier": ("hardware_tier", _number),
    "chapter_min": ("chapter_min", _number),
    "chapter_max": ("chapter_max", _number),
    "lesson": ("lesson", _number),
    "proficiency_levels": ("proficiency_levels", _texts),
    "proficiency_level": ("proficiency_levels", _texts),
    "layer": ("layer", _text),
    "parent_doc_id": ("parent_doc_id", _text),
    "language": ("language", _text),
}

FILTER_NAMES = (*_NAMES, "chapter")


def parse_filters(values: Mapping[str, Any] | None) -> Filters:
    """Read a caller's filters.

    Raises `InvalidRequest` for an unknown name, a wrong type or an empty range; nothing is
    ever silently ignored.
    """
    fields: dict[str, Any] = {}
    for name, value in (values or {}).items():
        if name == "chapter":
            fields["chapter_min"] = fields["chapter_max"] = _number(name, value)
            continue
        if name not in _NAMES:
            raise InvalidRequest(
                f"filters.{name}: unknown filter; known are {', '.join(FILTER_NAMES)}",
                field=f"filters.{name}",
            )
        target, read = _NAMES[name]
        fields[target] = read(name, value)
    low, high = fields.get("chapter_min"), fields.get("chapter_max")
    if low is not None and high is not None and low > high:
        raise InvalidRequest(
            "filters.chapter_min: must not be above chapter_max", field="filters.chapter_min"
        )
    return Filters(**fields)
