"""Text handling shared by data building, training, evaluation and the reference reader: sentences as character ranges."""

import re

_ABBREV = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|mr|mrs|ms|dr|prof|st|sr|jr|no|nos|vol|fig|figs|eq|sec|al|approx|ca|inc|ltd|co|corp|dept|"
    r"gen|col|lt|sgt|rev|hon|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|u\.s|u\.k|u\.n|d\.c|a\.m|p\.m|ph\.d|b\.c|a\.d)"
    r"|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
_END = re.compile(r"[.!?][\"'”’)\]*_`]*(?=\s)")
_BLOCK = re.compile(
    r"\n[ \t]*\n+|\n(?=[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+)|\n(?=[ \t]*(?:\||#{1,6} |>|```|~~~|:::))"
)
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$|^[ \t]*(```|~~~).*\Z", re.M | re.S)
MAX_CHARS = 600


def _trim(text: str, a: int, b: int) -> tuple[int, int]:
    while a < b and text[a].isspace():
        a += 1
    while b > a and text[b - 1].isspace():
        b -= 1
    return a, b


def _prose(text: str, a: int, b: int, lower_starts: bool, out: list[tuple[int, int]]) -> None:
    start = a
    for m in _END.finditer(text, a, b):
        end = m.end()
        nxt = re.compile(r"\s*[\"'“‘(\[*_`]*").match(text, end, b).end()
        if nxt >= b:
            break
        char = text[nxt]
        if not (
            char.isupper()
            or char.isdigit()
            or not char.isascii()
            or (lower_starts and char.isalpha())
        ):
            continue
        if text[m.start()] == "." and _ABBREV.search(
            text[max(start, m.start() - 8) : m.start() + 1]
        ):
            continue
        if end - start < 3:
            continue
        out.append((start, end))
        start = end
    out.append((start, b))


def sentences(text: str) -> list[tuple[int, int]]:
    """Ranges of the sentences of a passage, in order: list items, table rows and paragraphs never run together, a fenced
    code block is one unit, an over-long unit is cut at line ends."""
    lower_starts = not re.search(r"[.!?]\s+[A-Z]", text)
    raw: list[tuple[int, int]] = []

    def blocks(a: int, b: int) -> None:
        start = a
        for m in _BLOCK.finditer(text, a, b):
            if m.start() > start:
                _prose(text, start, m.start(), lower_starts, raw)
            start = m.end() if m.end() > m.start() else start
        if b > start:
            _prose(text, start, b, lower_starts, raw)

    at = 0
    for m in _FENCE.finditer(text):
        blocks(at, m.start())
        raw.append((m.start(), m.end()))
        at = m.end()
    blocks(at, len(text))
    out = []
    for a, b in raw:
        a, b = _trim(text, a, b)
        while b - a > MAX_CHARS:
            cut = text.rfind("\n", a + 40, a + MAX_CHARS)
            cut = cut if cut > 0 else text.rfind(" ", a + 40, a + MAX_CHARS)
            cut = cut if cut > 0 else a + MAX_CHARS
            x, y = _trim(text, a, cut)
            if y > x:
                out.append((x, y))
            a, b = _trim(text, cut, b)
        if b > a and any(c.isalnum() for c in text[a:b]):
            out.append((a, b))
    return out


def normal(text: str) -> str:
    """For string comparison of answers: lower case, letters and digits only, single spaces."""
    return " ".join(re.findall(r"\w+", text.lower()))
