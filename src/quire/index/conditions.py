"""What `Filters` mean, once: neutral conditions that each adapter puts in its store's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from quire.errors import InvalidRequest
from quire.models import Filters


@dataclass(frozen=True, slots=True)
class Match:
    """The field holds one of these values."""

    field: str
    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The number lies between the two bounds, both included; None leaves a side open."""

    field: str
    at_least: int | None
    at_most: int | None


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these matches."""

    matches: tuple[Match, ...]


Condition = Match | Between | AnyOf


def conditions(filters: Filters) -> tuple[Condition, ...]:
    """The conditions that must all hold; empty when nothing is filtered.

    Raises `InvalidRequest` for a value that no store can hold.
    """
    for name, given in filters.applied().items():
        values = cast("list[object]", given) if isinstance(given, list) else [given]
        if not all(map(_storable, values)):
            raise InvalidRequest(f"{name}: is not a value that a page can have", field=name)
    return tuple(_conditions(filters))


def _storable(value: object) -> bool:
    """A number of 64 bits, or a text that is Unicode: JSON can carry half a character."""
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return all(not "\ud800" <= letter <= "\udfff" for letter in str(value))


def page_url(source_url: str) -> str:
    """The address of the page: no anchor, no closing slash."""
    return source_url.partition("#")[0].rstrip("/")


def _conditions(filters: Filters) -> Iterator[Condition]:
    if filters.hardware_tier is not None:
        yield Between("hardware_tier", None, filters.hardware_tier)
    if filters.chapter_min is not None or filters.chapter_max is not None:
        yield Between("chapter", filters.chapter_min, filters.chapter_max)
    if filters.lesson is not None:
        yield Match("lesson", (filters.lesson,))
    for field, value in (
        ("module", filters.module),
        ("layer", filters.layer),
        ("parent_doc_id", filters.parent_doc_id),
        ("language", filters.language),
    ):
        if value is not None:
            yield Match(field, (value,))
    for field, values in (
        ("proficiency_level", filters.proficiency_levels),
        ("page_title", filters.page_title),
        ("section_title", filters.section_heading),
        ("source_file", filters.source_file),
    ):
        if values:
            yield Match(field, values)
    if filters.source_url:
        yield _address(filters.source_url)


def _address(urls: Iterable[str]) -> AnyOf:
    """An address with an anchor names its section, one without names the whole page."""
    sections: list[str] = []
    pages: list[str] = []
    for url in urls:
        base, anchor, fragment = url.partition("#")
        if anchor and fragment:
            path = base.rstrip("/")
            sections += dict.fromkeys((url, f"{path}#{fragment}", f"{path}/#{fragment}"))
        else:
            pages.append(page_url(url))
    named = (Match("source_url", tuple(sections)), Match("page_url", tuple(pages)))
    return AnyOf(tuple(match for match in named if match.values))
