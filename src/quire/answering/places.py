"""Where a selection stands in the stored source: at exact offsets, or by its words in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from quire.models import Chunk, SelectionSource

_WORD: Final = re.compile(r"[^\W_]+")
# what a page doesn't show, or shows in other words: such words may be there or not
_MARKUP: Final = re.compile(
    r"""
      <!--.*?-->                                  # a comment
    | <[/!]?[A-Za-z][^<>]*>                       # a tag
    | !\[[^\]\n]*\]                               # an image's description
    | \]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)     # where a link leads
    | \]\[[^\]\n]*\] | \[\^[^\]\n]*\]
    | ^[ ]{0,3}\[[^\]\n]+\]:[^\n]*                # a link's definition
    | ^[ \t>]*(?:`{3,}|~{3,})[^\n]*               # a fence
    | ^[ \t>]*(?::::+|!!!|\?\?\?\+?|\.\.)[ ]*[\w:-]*  # an admonition or directive
    | ^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ ]            # an item's mark
    | ^(?:import|export)[ ][^\n]*
    | \{[^{}\n]*\}                                # an expression or anchor
    | &\#?\w+; | :[a-z0-9_+-]+:
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def at_offsets(
    chunks: Sequence[Chunk], selected: str, start: int, end: int
) -> SelectionSource | None:
    """The place, if the page's file holds exactly the selected text there."""
    if end - start != len(selected) or not selected.strip():
        return None
    for chunk in chunks:
        low, high = max(start, chunk.char_start), min(end, chunk.char_end)
        if low < high:
            stored = chunk.text[low - chunk.char_start : high - chunk.char_start]
            if stored != selected[low - start : high - start]:
                return None
    # between chunks there is nothing but space
    for index, character in enumerate(selected, start=start):
        if not character.isspace() and not any(c.char_start <= index < c.char_end for c in chunks):
            return None
    return _place(chunks, start, end)


def by_words(chunks: Sequence[Chunk], selected: str) -> SelectionSource | None:
    """The first place whose words, as the page shows them, are the selected ones in order."""
    wanted = [match[0].casefold() for match in _WORD.finditer(selected)]
    if not wanted or not chunks:
        return None
    # how many wanted words were met → where the first of them stands
    met: dict[int, int] = {}
    for word, start, end, optional in _words(chunks):
        following = dict(met) if optional else {}
        for count, first in [*met.items(), (0, start)]:
            if wanted[count] == word:
                if count + 1 == len(wanted):
                    return _place(chunks, first, end)
                following.setdefault(count + 1, first)
        met = following
    return None


def _words(chunks: Sequence[Chunk]) -> Iterator[tuple[str, int, int, bool]]:
    """Every word with its offsets in the file, and whether it belongs to the markup."""
    first = chunks[0]
    for match in _WORD.finditer(first.page_title):  # pages show it above their text
        yield match[0].casefold(), first.char_start, first.char_start, True
    for chunk in chunks:
        marked = [match.span() for match in _MARKUP.finditer(chunk.text)]
        for match in _WORD.finditer(chunk.text):
            start, end = match.span()
            while marked and marked[0][1] <= start:
                marked.pop(0)
            optional = bool(marked) and marked[0][0] <= start
            at = chunk.char_start
            yield match[0].casefold(), at + start, at + end, optional


def _place(chunks: Sequence[Chunk], start: int, end: int) -> SelectionSource:
    first = next(chunk for chunk in chunks if start < chunk.char_end)
    last = next((chunk for chunk in reversed(chunks) if chunk.char_start < end), first)
    return SelectionSource(
        source_file=first.source_file,
        source_url=first.source_url,
        page_title=first.page_title,
        section_heading=first.section_title or "",
        char_start=start,
        char_end=end,
        line_start=_line(first, start),
        line_end=_line(last, max(start, end - 1)),
    )


def _line(chunk: Chunk, offset: int) -> int:
    return chunk.line_start + chunk.text.count("\n", 0, max(0, offset - chunk.char_start))
