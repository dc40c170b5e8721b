"""The quotable units of a Markdown slice: sentences, list items, code and tables, with offsets.

Headings, imports, JSX, comments and lists of links are never units: nobody wants them quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from quire.answering import markup
from quire.ingestion.blocks import Block, scan
from quire.ingestion.sentences import sentence_ranges

UnitKind = Literal["sentence", "item", "step", "code", "table", "lead"]
"""`item` and `step` are entries of bulleted and numbered lists; `lead` introduces a block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A piece that can be quoted whole: `text[start:end]`."""

    start: int
    end: int
    kind: UnitKind
    plain: str
    block: int
    """Units of one paragraph or of one list share it; it grows down the text."""
    heading: str
    """The nearest heading above, inside this slice; empty if there is none."""


_ITEM_MARK: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\[[ xX]\])?[ \t]+")
_NOTE_MARK: Final = re.compile(r"\[\^[^\]\s]+\]:[ \t]*")
_ALERT: Final = re.compile(r"(?:>[ \t]?)+\[![A-Za-z]+\][-+]?[ \t]*\r?\n?")
_QUOTED_HEADING: Final = re.compile(r"(?:>[ \t]?)+#{1,6}[ \t][^\n]*\n(?:[ \t]*(?:>[ \t]?)+\r?\n)*")
_QUOTED_FENCE: Final = re.compile(
    r"^[ \t]*(?:>[ \t]?)+[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n|\Z)"
    r"(?:[^\n]*\n)*?(?:[ \t]*(?:>[ \t]?)+[ \t]*(?P=fence)[`~]*[ \t]*(?:\n|\Z)|[^\n]*\Z)",
    re.MULTILINE,
)
_LINKS: Final = re.compile(r"!?\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|<?https?://\S+")
_FRONT_MATTER: Final = re.compile(
    r"\A---[ \t]*\r?\n.*?^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_LONG_ITEM: Final = 600
_MIN_CODE: Final = 8


@lru_cache(maxsize=2048)
def units(text: str, opening: str = "") -> tuple[Unit, ...]:
    """Every quotable unit of a Markdown slice, in order; units don't overlap.

    `opening` is what opened the block that the slice begins in: the rest of it is no unit.
    """
    found: list[Unit] = []
    heading, group, previous = "", 0, ""
    for block in _blocks(text, opening):
        if block.kind == "heading":
            heading = markup.plain(block.info)
        if not (block.kind == "item" == previous):
            group += 1
        previous = block.kind
        for start, end, kind in _pieces(text, block):
            raw = text[start:end]
            plain = raw if kind == "code" else markup.plain(raw)
            if plain and not _is_hidden(raw):
                found.append(
                    Unit(start=start, end=end, kind=kind, plain=plain, block=group, heading=heading)
                )
    return tuple(found)


def _blocks(text: str, opening: str) -> Iterator[Block]:
    """The blocks that begin in the text, with its offsets."""
    if opening:
        shift = len(opening) + 1
        for block in scan(f"{opening}\n{text}"):
            if block.start >= shift:
                yield block._replace(start=block.start - shift, end=block.end - shift)
        return
    front = _FRONT_MATTER.match(text)
    yield from scan(text, front.end() if front else 0)


def without_mark(raw: str) -> str:
    """A list entry without its bullet or number."""
    mark = _ITEM_MARK.match(raw)
    return raw[mark.end() :] if mark else raw


def indent(text: str, start: int) -> int:
    """Columns before a place on its line; 0 where something stands there."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return 0 if line.strip() else len(line.expandtabs(4))


def _is_hidden(raw: str) -> bool:
    """What a reader of the page can't see is no quote."""
    return markup.has_invisible(raw) or "<!--" in raw or "{/*" in raw


def _pieces(text: str, block: Block) -> Iterator[tuple[int, int, UnitKind]]:
    start, end = _trimmed(text, block.start, block.end)
    match block.kind:
        case "fence" | "code" | "math":
            whole = end - start > _MIN_CODE and _is_closed(text[start:end], block)
            if whole and not _follows_directive(text, start):
                yield start, end, "code"
        case "table":
            yield start, end, "table"
        case "item":
            yield from _item(text, start, end)
        case "paragraph" | "quote" | "footnote":
            if not _only_links(text[start:end]):
                yield from _sentences(text, start, end, block)
        case _:
            return


def _item(text: str, start: int, end: int) -> Iterator[tuple[int, int, UnitKind]]:
    mark = _ITEM_MARK.match(text, start, end)
    if _only_links(text[mark.end() if mark else start : end]):
        return
    if end - start > _LONG_ITEM:
        for a, b in sentence_ranges(text, mark.end() if mark else start, end):
            yield (*_trimmed(text, a, b), "sentence")
    elif markup.plain(text[start:end]).endswith((":", "：")):
        yield start, end, "lead"
    else:
        yield start, end, "step" if text[start].isdigit() else "item"


def _sentences(
    text: str, start: int, end: int, block: Block
) -> Iterator[tuple[int, int, UnitKind]]:
    mark = {"footnote": _NOTE_MARK, "quote": _ALERT}.get(block.kind)
    opening = mark.match(text, start, end) if mark else None
    for a, b in _prose(text, opening.end() if opening else start, end, block):
        if block.kind == "quote" and (heading := _QUOTED_HEADING.match(text, a, b)):
            a = heading.end()
        a, b = _trimmed(text, a, b)
        if a < b:
            lead = markup.plain(text[a:b]).endswith((":", "："))
            yield a, b, "lead" if lead else "sentence"


def _prose(text: str, start: int, end: int, block: Block) -> Iterator[tuple[int, int]]:
    """The sentences of a block; code inside a quotation, each line with its mark, is none."""
    fences = _QUOTED_FENCE.finditer(text, start, end) if block.kind == "quote" else ()
    for fence in fences:
        yield from sentence_ranges(text, start, fence.start())
        start = fence.end()
    yield from sentence_ranges(text, start, end)


def _only_links(raw: str) -> bool:
    return bool(_LINKS.search(raw)) and len(_LINKS.sub("", raw).split()) < 3


def _is_closed(raw: str, block: Block) -> bool:
    """A fence that a chunk's end cut in two is no whole code block."""
    if block.kind != "fence":
        return True
    return raw.rstrip().endswith(("```", "~~~")) and "\n" in raw


def _follows_directive(text: str, start: int) -> bool:
    """Whether it is what a directive is told (mkdocstrings), indented below it."""
    above = text[max(0, start - 300) : start].rstrip().rpartition("\n")[2]
    return above.lstrip().startswith(":::") and text[start : start + 3] not in ("```", "~~~")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
