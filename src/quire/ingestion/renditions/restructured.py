"""reStructuredText as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quire.ingestion.blocks import Block
from quire.ingestion.renditions.tables import OPTION, Rows, drawn_rows, listed_rows
from quire.ingestion.renditions.writer import (
    Range,
    Writer,
    column_of,
    fence_for,
    language_of,
    margin_of,
    unpadded,
)
from quire.ingestion.restructured import DIRECTIVE, ITEM, TABLE, restructured_words
from quire.ingestion.sentences import line_ranges

_INLINE: Final = re.compile(
    r"``(?P<literal>(?:[^`]|`(?!`)){1,400}+)``"
    r"|:(?P<role>[\w+.-]{1,40}(?::[\w+.-]{1,40}){0,3}):`(?P<said>[^`]{1,400}+)`"
    r"|`(?P<reference>[^`]{1,400}+)`(?P<refers>__?(?!\w))?"
    r"|(?<![\w|])\|(?P<substituted>[^|\s][^|\n]{0,100}+)\|(?:__?)?(?!\w)"
    r"|(?P<note>[ \t]{0,3}\[(?:#?\w{0,40}|\*)\]_(?!\w))"
    r"|(?<![\w`])(?P<named>[A-Za-z0-9](?:[A-Za-z0-9.+-]|_(?=[A-Za-z0-9]))*+)__?"
    r"(?=[\s.,;:!?)\]}'\"/\\>-]|\Z)"
    r"|\\(?P<escaped>.)"
    r"|(?P<break>\r?\n[ \t]*)",
    re.DOTALL,
)
_MARKED: Final = re.compile(r"[`|_\\\n]")
_TARGET: Final = re.compile(r"\s*<[^<>`]{0,300}>\Z")
_CODE_ROLES: Final = frozenset(
    "code literal func function class meth method mod module attr attribute data const exc obj "
    "option envvar command program file kbd samp confval setting cmdoption macro type member "
    "keyword token any".split()
)
_ICONS: Final = frozenset("octicon fa fab far fas material-regular material-outlined".split())
_TICKETS: Final = frozenset("bug issue pr pull gh ticket".split())
_NAMES: Final = {"pep": "PEP ", "rfc": "RFC ", "cve": "CVE-", "cwe": "CWE-"}
"""What is said before a number that such a role links."""
_RAISED: Final = {"sup": "sup", "superscript": "sup", "sub": "sub", "subscript": "sub"}
_SINCE: Final = {
    "versionadded": "New in version ",
    "versionchanged": "Changed in version ",
    "deprecated": "Deprecated since version ",
    "versionremoved": "Removed in version ",
}
_TITLED: Final = frozenset(
    "admonition availability centered dropdown rubric sidebar todo topic".split()
)
"""Directives whose argument is to be read."""
_ADORNMENT: Final = re.compile(r"[ \t]*([!-/:-@\[-`{-~])\1{2,}[ \t\r]*")
_OBJECTS: Final = frozenset(
    "function class method attribute data exception option envvar confval cmdoption describe "
    "setting property decorator macro type member var event signal directive role templatefilter "
    "templatetag fieldlookup django-admin django-admin-option".split()
)
_FOOTNOTE: Final = re.compile(r"[ \t]*\.\.[ \t]+\[[^\]\n]{1,60}\][ \t]*")
_NUMBER: Final = re.compile(r"\(?(\d{1,9})[.)]")
_DEPTH: Final = "   "
_WIDEST: Final = 300
"""Columns of the widest indentation that counts as one."""
_LARGEST_TABLE: Final = 20_000
"""Characters of a drawn table that is read again for every slice of it."""


class Restructured:
    """Writes one slice of reStructuredText; `base` is where the file's slice begins."""

    def __init__(
        self, writer: Writer, text: str, start: int, end: int, base: int | None = None
    ) -> None:
        self._text = text
        self._start = start
        self._base = start if base is None else base
        self._end = end
        self._writer = writer
        self._indents: list[int] = []
        """Of the open lists, outermost first."""
        self._lead = ""
        """What the next paragraph begins with."""
        self._in_cell = False

    def write(self, blocks: Sequence[Block]) -> None:
        """Write those of the blocks that the slice holds, or what it holds of them."""
        beyond = self._start
        listed = False
        for block in blocks:
            start, end = max(block.start, self._start), min(block.end, self._end)
            if start < beyond or start >= end:
                continue
            self._writer.part("\n" if listed and block.kind == "item" else "\n\n")
            listed = block.kind == "item"
            if not listed:
                self._indents = []
            beyond = self._block(block, start, end)

    def _block(self, block: Block, start: int, end: int) -> int:
        """Write a block; returns where what it took ends."""
        text = self._text
        match block.kind:
            case "heading":
                at = self._text.find(block.info, start, end)
                if at >= 0:
                    self._writer.add("#" * max(1, block.level) + " ")
                    self._inline(at, at + len(block.info))
            case "item":
                self._item(start, end)
            case "code" | "math":
                self._code(block, start, end)
            case "admonition":
                return self._directive(start, end)
            case "footnote":
                mark = _FOOTNOTE.match(self._text, start, end)
                self._prose(mark.end() if mark else start, end)
            case "comment" | "definition" | "rule":
                pass
            case _:
                whole = start - block.start <= _WIDEST and not text[block.start : start].strip()
                self._paragraph(start, end, whole=whole)
        return end

    def _paragraph(self, start: int, end: int, *, whole: bool) -> None:
        """Prose; of a definition list each term, and after a colon what is said of it."""
        text = self._text
        start += len(text[start:end]) - len(text[start:end].lstrip())
        if text.startswith("| ", start):
            self._verse(start, end)
            return
        if _ADORNMENT.fullmatch(text, start, end):
            return
        below = text.find("\n", start, end) + 1
        marks = _ADORNMENT.match(text, below) if below else None
        if marks and marks.end() in (end, text.find("\n", below)):
            self._writer.add("#### ")
            self._inline(start, below - 1)
            self._writer.part("\n\n")
            after = min(marks.end() + 1, end)
            self._prose(min(after + margin_of(text, after), end), end)
            return
        self._writer.add(self._lead)
        self._lead = ""
        begins = whole and column_of(text, start) == margin_of(text, start)
        entries = _definitions(text, start, end) if begins and text[start] not in ":>" else []
        for number, (term, said) in enumerate(entries):
            if number:
                self._writer.part("\n\n")
            self._inline(*term)
            self._writer.add("\n: ")
            self._prose(*said)
        if not entries:
            self._prose(start, end)

    def _verse(self, start: int, end: int) -> None:
        """Lines that stay lines, each after a bar."""
        for number, (a, b) in enumerate(line_ranges(self._text, start, end)):
            line = self._text[a:b].rstrip()
            bare = line.lstrip().removeprefix("|").lstrip()
            self._writer.add("\n" if number else "")
            self._inline(a + len(line) - len(bare), a + len(line))

    def _prose(self, start: int, end: int, margin: str = "") -> None:
        """Prose, with one colon where two announce a block, and none if it is these alone."""
        text = self._text
        said = text[start:end].rstrip()
        if said.endswith("::"):
            said = said[:-2].rstrip() if said[-3:-2].isspace() or len(said) == 2 else said[:-1]
        if said.strip():
            self._inline(start, start + len(said), margin)

    def _item(self, start: int, end: int) -> None:
        text = self._text
        indent = margin_of(text, start)
        start += len(text[start:end]) - len(text[start:end].lstrip())
        mark = ITEM.match(text, start, end)
        while self._indents and self._indents[-1] > indent:
            self._indents.pop()
        if not self._indents or self._indents[-1] < indent:
            self._indents.append(indent)
        margin = _DEPTH * (len(self._indents) - 1)
        number = _NUMBER.match(text, start, end)
        sign = f"{number[1]}. " if number else "1. " if text[start] == "#" else "- "
        self._writer.add(margin + sign)
        self._prose(mark.end() if mark else start, end, margin + _DEPTH)

    def _code(self, block: Block, start: int, end: int) -> None:
        text = self._text
        lines = line_ranges(text, start, end)
        if block.level and "\n" not in text[block.start : min(start, block.start + _WIDEST)]:
            lines = self._content(lines)
        elif self._drawn_table(block, start, end):
            return
        self._fenced(unpadded(text, lines), language_of(block.info))

    def _content(self, lines: list[Range]) -> list[Range]:
        """The lines of a directive that holds code, without its own; a formula may stand on it."""
        text, (a, b) = self._text, lines[0]
        found = DIRECTIVE.match(text[a:b].strip())
        first = 1
        while first < len(lines) and OPTION.match(text, *lines[first]):
            first += 1
        if found and found[1] == "math" and found[2]:
            at = text.rindex(found[2].strip(), a, b)
            return [(at, b), *lines[first:]]
        return lines[first:]

    def _fenced(self, lines: Sequence[Range], language: str) -> None:
        if not lines:
            return
        text = self._text
        margins = [margin_of(text, a) for a, b in lines if not text[a:b].isspace()]
        margin = min(margins, default=0)
        fence = fence_for(text[lines[0][0] : lines[-1][1]])
        self._writer.add(fence + language)
        for a, b in lines:
            body = text[a:b].rstrip()
            at = min(a + max(0, margin - column_of(text, a)), a + len(body))
            self._writer.add("\n")
            self._copy(at, a + len(body))
        self._writer.add(f"\n{fence}")

    def _directive(self, start: int, end: int) -> int:
        text = self._text
        line = text[start:end].lstrip().partition("\n")[0].rstrip()
        found = DIRECTIVE.match(line)
        if found is None:
            return end
        name = found[1].lower().rpartition(":")[2]
        if name == "list-table":
            after = self._below(start)
            rows = listed_rows(text, end, after)
            self._table(rows)
            return after if rows else end
        behind = text[end : end + _WIDEST].lstrip(" \t")
        self._lead = _SINCE.get(name, "") if behind[:1].isalnum() else ""
        argument = (found[2] or "").strip()
        at = end - len(text[start:end].lstrip()) + found.start(2)
        if not argument or (
            name == "class" and argument == argument.lower() and "(" not in argument
        ):
            return end  # `class` names a style, too
        if name in _OBJECTS:
            self._as_code(at, at + len(argument))
            self._writer.add(":")
        elif name in _TITLED:
            self._inline(at, at + len(argument))
        return end

    def _below(self, start: int) -> int:
        """Where what is indented below a directive ends."""
        text, margin, after = self._text, margin_of(self._text, start), start
        for a, b in line_ranges(text, start, self._end):
            if a > start and text[a:b].strip() and margin_of(text, a) <= margin:
                break
            after = b
        return after

    def _drawn_table(self, block: Block, start: int, end: int) -> bool:
        """The part of a table that is drawn with characters; False if its cells can't be told."""
        if block.end - block.start > _LARGEST_TABLE:
            return False
        table = self._text[block.start : block.end]
        if not TABLE.match(table.lstrip().partition("\n")[0].strip()):
            return False
        drawn: Rows = [
            [[(a + block.start, b + block.start) for a, b in cell] for cell in row]
            for row in drawn_rows(table)
        ]
        held = [row for row in drawn[1:] if any(start <= a < end for cell in row for a, _ in cell)]
        if drawn and (held or start == block.start):
            self._table([drawn[0], *held])
        return bool(drawn)

    def _table(self, rows: Rows) -> None:
        """Rows of cells of lines; the first row is the header, which may stand in another slice."""
        if not rows:
            return
        self._in_cell = True
        width = max(len(row) for row in rows)
        for number, row in enumerate(rows):
            self._writer.add("\n|" if number else "|")
            for column in range(width):
                self._writer.add(" ")
                for place, (a, b) in enumerate(row[column] if column < len(row) else ()):
                    self._writer.add(" " if place else "")
                    if self._start <= a and b <= self._end:
                        self._inline(a, b)
                    else:
                        self._writer.add(restructured_words(self._text[a:b]))
                self._writer.add(" |")
            if number == 0:
                self._writer.add("\n|" + " --- |" * width)
        self._in_cell = False

    def _inline(self, start: int, end: int, margin: str = "") -> None:
        """Words with their markup."""
        text = self._text
        if not _MARKED.search(text, start, end):
            self._copy(start, end)
            return
        at = start
        for found in _INLINE.finditer(text, start, end):
            self._copy(at, found.start())
            self._construct(found, margin)
            at = found.end()
        self._copy(at, end)

    def _construct(self, found: re.Match[str], margin: str) -> None:
        match found.lastgroup:
            case "literal":
                self._as_code(*found.span("literal"))
            case "said":
                self.role(found["role"], *found.span("said"))
            case "reference":
                self._as_code(*found.span("reference"))
            case "refers":
                self._titled(*found.span("reference"))
            case "substituted" | "named" as group:
                self._copy(*found.span(group))
            case "escaped" if not found["escaped"].isspace():
                self._copy(*found.span())
            case "break":
                first = found.start() + found.group().index("\n")
                self._copy(first, first + 1)
                self._writer.add(margin)
            case _:
                pass

    def role(self, role: str, start: int, end: int) -> None:
        """Write what a role says."""
        name = role.rpartition(":")[2].lower()
        text = self._text
        if name in _ICONS:  # `windows;fa-xl`: its name says what it shows
            self._copy(start, start + len(text[start:end].partition(";")[0]))
            return
        start += text[start] in "~!"
        if text[start - 1] == "~" and not _TARGET.search(text[start:end]):
            start = max(start, text.rfind(".", start, end) + 1)
        if name in _TICKETS and text[start:end].isdigit():
            self._writer.add("#")
        if text[start : start + 1].isdigit():
            self._writer.add(_NAMES.get(name, ""))
        if name in _RAISED:
            self._writer.add(f"<{_RAISED[name]}>")
            self._unbroken(start, end)
            self._writer.add(f"</{_RAISED[name]}>")
        elif name in _CODE_ROLES:
            target = _TARGET.search(text[start:end])
            self._as_code(start, start + target.start() if target else end)
        else:
            self._titled(start, end)

    def _titled(self, start: int, end: int) -> None:
        """The words of a link, without where it leads."""
        target = _TARGET.search(self._text[start:end])
        self._unbroken(start, start + target.start() if target else end)

    def _as_code(self, start: int, end: int) -> None:
        if not self._text[start:end].strip():
            return
        ticks = "``" if "`" in self._text[start:end] else "`"
        self._writer.add(ticks)
        self._unbroken(start, end)
        self._writer.add(ticks)

    def _unbroken(self, start: int, end: int) -> None:
        """Words as they are, without the indentation after a line break."""
        for a, b in line_ranges(self._text, start, end):
            skipped = margin_of(self._text, a) if a > start else 0
            self._copy(min(a + skipped, b), b)

    def _copy(self, start: int, end: int) -> None:
        while self._in_cell and (bar := self._text.find("|", start, end)) >= 0:
            self._writer.copy(self._text[start:bar], start - self._base)
            self._writer.add("\\")
            self._writer.copy("|", bar - self._base)
            start = bar + 1
        if start < end:
            self._writer.copy(self._text[start:end], start - self._base)


def _definitions(text: str, start: int, end: int) -> list[tuple[Range, Range]]:
    """Terms, each on a line of its own, with what is indented below; none if it is no such list."""
    entries: list[tuple[Range, Range]] = []
    base = margin_of(text, start)
    lines = [(a, a + len(text[a:b].rstrip())) for a, b in line_ranges(text, start, end)]
    for number, (a, b) in enumerate(lines):
        margin = margin_of(text, a)
        if margin > base and entries:
            term, said = entries[-1]
            entries[-1] = (term, (said[0] or a + margin, b))
        elif number + 1 < len(lines) and margin_of(text, lines[number + 1][0]) > base:
            if text[b - 1] in ".,;:!?":
                return []
            entries.append(((max(a, start) if number == 0 else a + margin, b), (0, 0)))
        else:
            return []
    return entries
