"""The blocks of a reStructuredText page, with exact ranges, found in one pass over its lines.

A scanner of our own: docutils reports lines, not characters, and it would read other files
for `include` and `raw`. Directives are sorted by what their content is: code, prose under a
label (notes, tabs), or nothing to read (tables of contents, raw output, targets).
"""

from __future__ import annotations

import re

from quire.ingestion.blocks import Block, Kind, line_starts

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+\Z")
DIRECTIVE = re.compile(r"\.\.[ \t]+(?:\|[^|]+\|[ \t]+)?([A-Za-z][\w+:.-]*?)::(?:[ \t]+(.*)|\Z)")
ITEM = re.compile(r"(?:[-*+•]|\(?(?:\d{1,9}|#|[a-zA-Z])[.)])(?:[ \t]+|\Z)")
_OPTION = re.compile(r":[\w -]+:(?:[ \t]+(.*)|\Z)")
TABLE = re.compile(r"\+[-=+]+\+\Z|=+(?:[ \t]+=+)+\Z")
_CODE = frozenset(
    "code code-block sourcecode literalinclude parsed-literal prompt console math doctest "
    "testcode testoutput ipython highlight".split()
)
_NOTES = frozenset(
    "note tip hint important warning caution danger attention error seealso versionadded "
    "versionchanged versionremoved deprecated".split()
)
"""Their content may begin on the line of the directive."""
_SILENT = frozenset(
    "toctree include raw contents index meta default-role role currentmodule module py:module "
    "py:currentmodule autosummary graphviz mermaid uml sectnum header footer only-html "
    "tabularcolumns".split()
)
_HEAD = 8_000
"""Characters by which the markup of a text is told."""
_TITLED = re.compile(r"^(\S[^\n]{0,200})\n((?:=|-|~|\^|\*|#|\+|\"){3,})[ \t\r]*$", re.MULTILINE)
_TELLING = re.compile(
    r"^\.\. (?:[\w:-]+::|_[^\n:]{1,80}:)|:[a-z][\w:+-]{1,30}:`[^`\n]+`|``[^`\n]+``|`[^`\n]+`__?\b",
    re.MULTILINE,
)
_ROLE = re.compile(r":[\w:+.-]+:`([^`]{1,1000})`")
_TARGET = re.compile(r"\s*<[^<>`]{0,500}>\Z")
_LITERAL = re.compile(r"``(.{1,1000}?)``", re.DOTALL)
_REFERENCE = re.compile(r"`([^`]{1,1000})`_{0,2}")
_STRONG = re.compile(r"\*\*([^*]{1,1000})\*\*|\*([^*\s][^*]{0,1000})\*")
_SUBSTITUTION = re.compile(r"\|([^|\s][^|]{0,200})\|_{0,2}")
_FOOTNOTE_MARK = re.compile(r"\[(?:#?\w*|\*)\]_")
_NAMED = re.compile(r"\b(\w+)__?(?=[\s.,;:!?)]|\Z)")


def scan_restructured(text: str, start: int = 0) -> list[Block]:
    """The blocks of `text[start:]` in order; everything not blank belongs to exactly one."""
    return _Scanner(text, start).blocks()


def is_restructured(text: str) -> bool:
    """Whether plain text is reStructuredText: it has a title over a line of marks, and markup."""
    head = text[:_HEAD]
    titled = any(len(found[2]) * 3 >= len(found[1]) * 2 for found in _TITLED.finditer(head))
    return titled and _TELLING.search(head) is not None


def restructured_words(text: str) -> str:
    """Inline reStructuredText as one line of plain text."""
    if "`" in text or "*" in text or "|" in text or "_" in text:
        text = _LITERAL.sub(r"\1", text)
        text = _ROLE.sub(lambda found: _TARGET.sub("", found.group(1)).lstrip("~!"), text)
        text = _REFERENCE.sub(lambda found: _TARGET.sub("", found.group(1)), text)
        text = _STRONG.sub(lambda found: found.group(1) or found.group(2), text)
        text = _SUBSTITUTION.sub(r"\1", text)
        text = _FOOTNOTE_MARK.sub("", text)
        text = _NAMED.sub(r"\1", text)
    text = text.replace("\\ ", "").replace("\\", "")
    if text.rstrip().endswith("::"):
        text = text.rstrip()[:-1]
    return " ".join(text.split())


class _Scanner:
    def __init__(self, text: str, start: int) -> None:
        self._lines = text[start:].split("\n")
        self._starts = line_starts(self._lines, start)
        self._blocks: list[Block] = []
        self._levels: list[str] = []  # adornment styles in the order they were met
        self._literal_below: int | None = None  # indentation of a paragraph that ended in `::`

    def blocks(self) -> list[Block]:
        lines = self._lines
        at = 0
        while at < len(lines):
            body = lines[at].strip()
            if not body:
                at += 1
                continue
            indent = self._indent(at)
            if self._literal_below is not None:
                literal, self._literal_below = self._literal_below, None
                if indent > literal:
                    at = self._add("code", at, self._indented_end(at, literal))
                    continue
            at = self._block(at, body, indent)
        return self._blocks

    def _block(self, at: int, body: str, indent: int) -> int:
        if not indent:
            after = self._title(at, body)
            if after > at:
                return after
        if body.startswith(".. ") or body == "..":
            return self._explicit(at, body, indent)
        if body.startswith("__ "):
            return self._add("definition", at, at + 1)
        if body.startswith(">>> "):
            return self._add("code", at, self._run_end(at))
        if TABLE.match(body):
            return self._add("code", at, self._table_end(at, body))
        if len(body) >= 4 and _ADORNMENT.match(body) and not indent:
            return self._add("rule", at, at + 1)
        found = ITEM.match(body)
        if found:
            after = self._item_end(at, indent)
            self._remember_literal(after, indent + found.end())
            return self._add("item", at, after, 1 + indent // 2)
        after = self._run_end(at)
        self._remember_literal(after, indent)
        return self._add("paragraph", at, after)

    def _title(self, at: int, body: str) -> int:
        """A heading: text over a line of marks, with or without such a line above."""
        lines = self._lines
        below = lines[at + 1].rstrip() if at + 1 < len(lines) else ""
        if _ADORNMENT.match(body) and at + 2 < len(lines):
            last = lines[at + 2].rstrip()
            text = below.strip()
            if text and last == body and len(body) >= len(text) and not _ADORNMENT.match(text):
                return self._heading(at, at + 3, text, body[0] * 2)
            return at
        if below and _ADORNMENT.match(below) and len(below) >= max(2, len(body) * 2 // 3):
            if ITEM.match(body) and len(below) < len(body):
                return at
            return self._heading(at, at + 2, body, below[0])
        return at

    def _heading(self, at: int, after: int, title: str, style: str) -> int:
        if style not in self._levels:
            self._levels.append(style)
        level = min(6, self._levels.index(style) + 1)
        return self._add("heading", at, after, level, title)

    def _explicit(self, at: int, body: str, indent: int) -> int:
        """A directive, target, footnote or comment."""
        found = DIRECTIVE.match(body)
        if found is None:
            if body.startswith((".. _", ".. |")):
                return self._add("definition", at, self._indented_end(at, indent))
            if re.match(r"\.\. \[[^\]]+\]", body):
                return self._add("footnote", at, self._run_end(at))
            return self._add("comment", at, self._indented_end(at, indent))
        name, argument = found.group(1).lower(), (found.group(2) or "").strip()
        if name in _CODE:
            after = self._indented_end(at, indent)
            return self._add("code", at, after, 1, argument if len(argument) < 40 else "")
        if name in _SILENT:
            return self._add("comment", at, self._indented_end(at, indent))
        if name in _NOTES and argument:
            return self._note(at, body, indent, _label(name, ""), argument)
        after = at + 1
        alternative = ""
        while after < len(self._lines) and self._indent(after) > indent:
            option = _OPTION.match(self._lines[after].strip())
            if option is None:
                break
            if self._lines[after].strip().startswith(":alt:"):
                alternative = option.group(1) or ""
            after += 1
        label = alternative if name in ("image", "figure") else _label(name, argument)
        return self._add("admonition", at, after, info=label or " ")

    def _note(self, at: int, body: str, indent: int, label: str, argument: str) -> int:
        """A directive whose content begins on its own line: its mark, then a paragraph."""
        lines = self._lines
        after = at + 1
        while after < len(lines) and lines[after].strip() and self._indent(after) > indent:
            after += 1
        start = self._starts[at] + indent + len(body) - len(argument)
        mark = self._starts[at] + indent + len(body[: -len(argument)].rstrip())
        end = self._starts[after - 1] + len(lines[after - 1].rstrip())
        self._blocks.append(Block("admonition", self._starts[at], mark, 0, label))
        self._blocks.append(Block("paragraph", start, end, 0, ""))
        self._remember_literal(after, indent)
        return after

    def _remember_literal(self, after: int, indent: int) -> None:
        if self._lines[after - 1].rstrip().endswith("::"):
            self._literal_below = indent

    def _indent(self, at: int) -> int:
        line = self._lines[at]
        return len(line) - len(line.lstrip(" \t"))

    def _run_end(self, at: int) -> int:
        """The line after a run of text: up to a blank line or a change to less indentation."""
        lines = self._lines
        indent = self._indent(at)
        after = at + 1
        while after < len(lines) and lines[after].strip() and self._indent(after) >= indent:
            after += 1
        return after

    def _item_end(self, at: int, indent: int) -> int:
        lines = self._lines
        after = at + 1
        while after < len(lines) and lines[after].strip() and self._indent(after) > indent:
            if ITEM.match(lines[after].strip()):
                break
            after += 1
        return after

    def _indented_end(self, at: int, indent: int) -> int:
        """The line after what is indented deeper than `indent`, blank lines included."""
        lines = self._lines
        after = last = at + 1
        while after < len(lines):
            if lines[after].strip():
                if self._indent(after) <= indent:
                    break
                last = after + 1
            after += 1
        return last

    def _table_end(self, at: int, body: str) -> int:
        if body[0] == "+":
            return self._run_end(at)
        lines = self._lines
        borders = 0
        for after in range(at, min(len(lines), at + 2_000)):
            if TABLE.match(lines[after].strip()):
                borders += 1
                if borders > 1 and (after + 1 >= len(lines) or not lines[after + 1].strip()):
                    return after + 1
        return self._run_end(at)

    def _add(self, kind: Kind, first: int, after: int, level: int = 0, info: str = "") -> int:
        last = after - 1
        while last > first and not self._lines[last].strip():
            last -= 1
        end = self._starts[last] + len(self._lines[last].rstrip())
        self._blocks.append(Block(kind, self._starts[first], end, level, info))
        return after


def _label(name: str, argument: str) -> str:
    kind = name.rpartition(":")[2].replace("-", " ").capitalize()
    if name in ("tab", "group-tab", "tab-item", "dropdown", "rubric", "topic", "admonition"):
        return argument
    return f"{kind}: {argument}" if argument else kind
