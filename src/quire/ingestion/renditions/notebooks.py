"""The cells of notebooks as Markdown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from quire.ingestion.blocks import Block
from quire.ingestion.notebooks import Segment
from quire.ingestion.pages import Page
from quire.ingestion.renditions.writer import Writer, fence_for, language_of
from quire.models import Rendition, Run


def of_notebook(page: Page, start: int, end: int) -> Rendition:
    """The source of a cell, or a part of it; code in a fence."""
    writer = Writer()
    block = _code_cell(page, start)
    fence = fence_for(page.text[start:end])
    if block is not None:
        writer.add(f"{fence}{language_of(block.info)}\n")
    base = page.origin(start, end)[0]
    for here, there, length, width in _traced(page.segments, start, end):
        writer.copy(page.text[here : here + length], there - base, width)
    if block is not None:
        writer.add(f"\n{fence}")
    return writer.done()


def _code_cell(page: Page, start: int) -> Block | None:
    """The block of a code cell that holds this place; it is all of its cell."""
    index = bisect_right(page.blocks, start, key=lambda block: block.end)
    alone = index in page.breaks and (index + 1 in page.breaks or index + 1 == len(page.blocks))
    if not alone or page.blocks[index].kind != "code":
        return None
    return page.blocks[index]


def _traced(segments: Sequence[Segment], start: int, end: int) -> Iterator[Run]:
    """The runs of `text[start:end]`, with offsets into the text and the file."""
    index = bisect_right(segments, start, key=lambda segment: segment.here) - 1
    while index < len(segments) and segments[index].here < end:
        segment = segments[index]
        index += 1
        after = segments[index].here if index < len(segments) else end
        here, stop = max(segment.here, start), min(after, end)
        if segment.width > 1 and here == segment.here:
            yield Run(here, segment.there, 1, segment.width)
            here += 1
        if here < stop:
            ahead = here - segment.here + max(0, segment.width - 1)
            yield Run(here, segment.there + ahead, stop - here, stop - here)
