"""Sentences, list items, rows and code blocks of a Markdown slice, with exact offsets.

Splitting uses them to cut long blocks; answering uses them as the units of quotes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from quire.ingestion.blocks import Block, scan

SpanKind = Literal["sentence", "item", "row", "code", "heading"]


class Span(NamedTuple):
    """`text[start:end]` is one unit; it neither begins nor ends with white space."""

    start: int
    end: int
    kind: SpanKind


# A terminator with its closing quotes and brackets, before white space; CJK ones need none.
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+(?:\[\^[^\]\s]{1,40}\])*+(?=\s)|"
    r"[。！？｡؟۔।]++[\"”’」』）)]*+"
)
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)[^`]{1,2000}(?<!`)\1(?!`)")
_QUOTED = re.compile(r"(?<![^\s(\[*_—–-])\"[^\"]{1,300}\"(?![^\s.,;:!?)\]*_—–-])|“[^“”]{1,300}”")
_NOT_ENDS = frozenset(
    "e.g i.e cf vs viz approx incl excl resp fig figs eq eqs sec secs ch chap vol pp p no nos al "
    "dr mr mrs ms prof st sr jr gen rep sen dept univ inc ltd co corp jan feb mar apr jun jul aug "
    "sep sept oct nov dec min max avg est ref refs ed eds tab def thm ex".split()
)
_MAYBE_ENDS = frozenset("etc al inc ltd co corp no ex jr sr".split())
_LIST_NUMBER = re.compile(r"(?<![^\n])[ \t]*[*_]{0,3}\d{1,9}\Z")
_SILENT = frozenset({"comment", "esm", "rule", "definition", "admonition"})


def spans(text: str, start: int = 0, end: int | None = None, *, mdx: bool = False) -> list[Span]:
    """The units of `text[start:end]` in order; offsets are those of `text`.

    Sentences of paragraphs and quotes, whole list items, rows of tables (without the rule
    under the header), whole code blocks, headings. Comments, imports and rules give none.
    Deterministic, and linear in the length.
    """
    found: list[Span] = []
    for block in scan(text, start, end, mdx=mdx):
        found.extend(block_spans(text, block))
    return found


def block_spans(text: str, block: Block) -> Iterator[Span]:
    """The units of one block."""
    kind = block.kind
    if kind in _SILENT:
        return
    if kind in ("fence", "code", "math"):
        yield from _trimmed(text, block.start, block.end, "code")
    elif kind == "heading":
        yield from _trimmed(text, block.start, block.end, "heading")
    elif kind == "item":
        yield from _trimmed(text, block.start, block.end, "item")
    elif kind == "table":
        for start, end in line_ranges(text, block.start, block.end):
            if text[start:end].strip(" \t\r\n|:-"):
                yield from _trimmed(text, start, end, "row")
    else:
        for start, end in sentence_ranges(text, block.start, block.end):
            yield from _trimmed(text, start, end, "sentence")


def sentence_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges that tile `text[start:end]`, each ending after a sentence.

    What ends inside code or a quotation ends no sentence, except at the quotation's own end.
    """
    ranges: list[tuple[int, int]] = []
    hidden = _hidden_ranges(text, start, end)
    at = start
    passed = 0
    for found in _END.finditer(text, start, end):
        stop = found.end()
        if stop >= end:
            break
        while passed < len(hidden) and hidden[passed][1] <= found.start():
            passed += 1
        if passed < len(hidden) and hidden[passed][0] <= found.start() < stop < hidden[passed][1]:
            continue
        if _ends_sentence(text, at, found.start(), stop, end):
            ranges.append((at, stop))
            at = stop
    if at < end:
        ranges.append((at, end))
    return ranges


def line_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges that tile `text[start:end]` line by line, line ends included."""
    ranges: list[tuple[int, int]] = []
    while start < end:
        found = text.find("\n", start, end)
        after = end if found < 0 else found + 1
        ranges.append((start, after))
        start = after
    return ranges


def _hidden_ranges(text: str, start: int, end: int) -> Sequence[tuple[int, int]]:
    """Code and quotations, in order, none inside another."""
    code = text.find("`", start, end) >= 0
    quoted = text.find('"', start, end) >= 0 or text.find("“", start, end) >= 0
    found = [each.span() for each in _CODE.finditer(text, start, end)] if code else []
    if not quoted:
        return found
    ranges: list[tuple[int, int]] = []
    for one in sorted([*found, *(each.span() for each in _QUOTED.finditer(text, start, end))]):
        if not ranges or one[0] >= ranges[-1][1]:
            ranges.append(one)
    return ranges


def _ends_sentence(text: str, begin: int, mark: int, stop: int, end: int) -> bool:
    """Whether the terminator at `mark` ends the sentence that began at `begin`."""
    following = _next_character(text, stop, end)
    if following.islower():
        return False
    if text[mark] not in ".…":
        return True
    if text[mark] == "…" or text.startswith("..", mark):
        return True
    before = text[max(begin, mark - 25) : mark].rsplit(None, 1)[-1:]
    word = before[0].lstrip("([{\"'“‘*_`>|/") if before else ""
    if word.lower() in _NOT_ENDS:
        return word.lower() in _MAYBE_ENDS and following.isupper()
    if len(word) == 1 and word.isupper():
        return False  # an initial
    return not (word.isdigit() and _LIST_NUMBER.search(text, max(begin, mark - 12), mark))


def _next_character(text: str, at: int, end: int) -> str:
    limit = min(end, at + 40)
    while at < limit and (text[at].isspace() or text[at] in "\"'“‘([*_>"):
        at += 1
    return text[at] if at < limit else ""


def _trimmed(text: str, start: int, end: int, kind: SpanKind) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield Span(start, end, kind)
