"""Chunks of other markups as Markdown, each copied character traced to the file.

Answers are made from Markdown: their sentences, lists, code and tables are found in it, and the
reader model was taught on it. A slice of reStructuredText or of a notebook's JSON is none. So it is
written anew here, and what is quoted from that is put back to where it stands in the file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from quire.ingestion.blocks import Block
from quire.ingestion.pages import Page
from quire.ingestion.renditions.myst import Myst, has_myst
from quire.ingestion.renditions.notebooks import of_notebook
from quire.ingestion.renditions.restructured import Restructured
from quire.ingestion.renditions.writer import Writer
from quire.models import Rendition

__all__ = ["rendition"]


def rendition(page: Page, start: int, end: int) -> Rendition | None:
    """`page.text[start:end]` as Markdown; None where it is plain Markdown, or plain text."""
    if page.format == "notebook":
        return of_notebook(page, start, end)
    blocks = _within(page.blocks, start, end)
    writer = Writer()
    if page.format == "restructured":
        Restructured(writer, page.text, start, end).write(blocks)
    elif page.format == "markdown" and has_myst(page.text, blocks, start, end):
        Myst(writer, page.text, start, end).write(blocks)
    else:
        return None
    return writer.done()


def _within(blocks: Sequence[Block], start: int, end: int) -> Sequence[Block]:
    first = bisect_right(blocks, start, key=lambda block: block.end)
    return blocks[first : bisect_left(blocks, end, key=lambda block: block.start)]
