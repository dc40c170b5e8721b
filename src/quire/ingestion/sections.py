"""The sections of a page: runs of blocks under one heading."""

from __future__ import annotations

from typing import NamedTuple

from quire.ingestion.pages import Page


class Section(NamedTuple):
    """Blocks `first` to `last` (exclusive) of a page; the heading, if any, is the first."""

    first: int
    last: int
    path: tuple[str, ...]
    """Titles from the outermost heading to this one; empty for what stands under the title."""
    anchor: str
    level: int
    parent: int | None
    """Index of the section this one stands under."""
    headed: bool

    @property
    def title(self) -> str | None:
        """The heading's text; None for what stands under the page's title."""
        return self.path[-1] if self.path else None


def sections(page: Page) -> list[Section]:
    """The page's sections in order; they tile its blocks.

    A level-1 heading before all others is the page's own title, so what follows it has no
    section path and no anchor.
    """
    found: list[Section] = []
    open_sections: list[int] = []  # indices of the sections the present one stands under
    inner = {*page.headings, *page.breaks} if page.breaks else page.headings
    starts = [0, *sorted(index for index in inner if 0 < index < len(page.blocks))]
    bounds = [*starts[1:], len(page.blocks)]
    headings_before = False
    for first, last in zip(starts, bounds, strict=True):
        heading = page.headings.get(first)
        if heading is None:
            found.append(_continued(found, open_sections, first, last))
            if not open_sections:
                open_sections = [0]
            continue
        level = page.blocks[first].level
        if level == 1 and not headings_before:
            headings_before = True
            found.append(Section(first, last, (), "", 0, 0 if found else None, True))
            open_sections = [len(found) - 1]
            continue
        headings_before = True
        while open_sections and found[open_sections[-1]].level >= level:
            open_sections.pop()
        parent = open_sections[-1] if open_sections else None
        above = found[parent].path if parent is not None else ()
        path = (*above, heading.title) if heading.title else above
        found.append(Section(first, last, path, heading.anchor, level, parent, True))
        open_sections.append(len(found) - 1)
    return found


def _continued(found: list[Section], open_sections: list[int], first: int, last: int) -> Section:
    """What stands before the first heading, or a notebook cell without one."""
    if not open_sections:
        return Section(first, last, (), "", 0, None, False)
    above = found[open_sections[-1]]
    return Section(first, last, above.path, above.anchor, above.level, above.parent, False)
