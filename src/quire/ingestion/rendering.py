"""What is embedded and searched for a block: its words without the markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from quire.ingestion.blocks import Kind, scan
from quire.ingestion.inline import words
from quire.ingestion.restructured import restructured_words, scan_restructured

_QUOTE_MARK = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_QUOTE_MARKS = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_ALERT = re.compile(r"\A\s*\[![A-Za-z]+\][-+]?[ \t]*")
_ITEM_MARK = re.compile(r"\A[ \t]*(?:[-*+•]|#\.|\d{1,9}[.)])(?:[ \t]+\[[ xX]\])?[ \t]+")
_HASHES = re.compile(r"\A\s*#{1,6}[ \t]+|[ \t]+#+[ \t]*\Z")
_UNDERLINE = re.compile(r"\n[ \t]*(?:=+|-+)[ \t\r]*\Z")
_FENCE_OPEN = re.compile(r"\A[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})[^\n]*\n?")
_FENCE_CLOSE = re.compile(r"[ \t]*(?:`{3,}|~{3,})[ \t\r]*\Z")
_DIRECTIVE = re.compile(r"\A[ \t]*\.\. [\w:-]+::[^\n]*\n?(?:[ \t]+:[\w -]+:[^\n]*\n?)*")
_TITLE = re.compile(r"""(?:title|filename|file)=(?:"([^"]*)"|'([^']*)')""")
_LANGUAGE = re.compile(r"\{?\.?([A-Za-z][\w+#.-]*)")
_VERBATIM = re.compile(r"(?is)<(script|style)\b.*?(?:</\1>|\Z)")
_TAB_LABEL = re.compile(
    r"<Tab(?:Item)?\b[^<>]{0,300}?\s(?:label|title)=[\"'{`]{1,2}([^\"'`{}<>]{1,100})[^<>]{0,300}>"
)
_CELL = re.compile(r"(?<!\\)\|")
_FOOTNOTE = re.compile(r"\A[ \t]*\[\^[^\]]*\]:[ \t]*")
_MAGIC = re.compile(
    r"^[ \t]*(?://|#|--|/\*|<!--|\{/\*)[ \t]*highlight-(?:next-line|start|end)"
    r"[ \t]*(?:\*/\}?|-->)?[ \t]*\n?",
    re.MULTILINE,
)
"""Comments that tell Docusaurus which lines to highlight; no reader sees them."""
_RULES = ("──", "━━", "══", "-----", "=====", "#####", "*****")
_RULE = re.compile(r"([─━═])\1+|(([-=#*])\3\3)\3{2,}")
"""Lines drawn in code: a frame costs as many tokens as all the words in it."""
_UNWRAPPED = "mdx-code-block"
MYST = re.compile(r"\{([a-z][\w-]*)\}[ \t]*(.*)")
_OPTIONS = re.compile(r"\A(?:[ \t]*:[\w-]+:[^\n]*(?:\n|\Z))+")
_ALTERNATIVE = re.compile(r"^[ \t]*:alt:[ \t]*(.+)", re.MULTILINE)
MYST_SILENT = frozenset(
    "literalinclude include toctree contents raw image figure button-ref button-link".split()
)
MYST_CODE = frozenset("code code-block code-cell sourcecode testcode math".split())
MYST_PROSE = frozenset(
    "note tip hint important warning caution danger attention error seealso admonition dropdown "
    "margin sidebar topic tab-item tab-set".split()
)
MYST_KNOWN = MYST_SILENT | MYST_CODE | MYST_PROSE | {"eval-rst"}
_MYST_TITLED = frozenset("admonition dropdown margin sidebar topic tab-item tab-set".split())
"""Named by their argument alone."""
_MAX_SLICE = 4_000
_SILENT: frozenset[Kind] = frozenset({"comment", "esm", "rule", "definition"})

Inline = Callable[[str], str]


def render(
    kind: Kind, text: str, *, info: str = "", header: str = "", inline: Inline = words
) -> str:
    """The words of one block, or of a part of one; empty for what carries none.

    `info` is the block's own (`Block.info`); `header` is a table's first row, given for
    parts that don't hold it themselves. `inline` cleans prose (one per markup language).
    """
    if kind in _SILENT:
        return ""
    if kind == "paragraph":
        return inline(text)
    if kind == "fence":
        return _fence(text, info, inline)
    if kind == "code" or kind == "math":
        code = _undrawn(_dedent(_DIRECTIVE.sub("", text, count=1)))
        return f"{info}\n{code}" if info else code
    if kind == "table":
        return _table(text, header, inline)
    if kind == "item":
        return item_words(text, inline)
    if kind == "heading":
        return inline(_HASHES.sub("", _UNDERLINE.sub("", text)))
    if kind == "admonition":
        said = inline(info)
        return f"{said}:" if said else ""
    if kind == "quote":
        inner = _ALERT.sub("", _QUOTE_MARK.sub("", text), count=1)
        said = _nested(inner, inline) if "\n" in inner.strip() else inline(inner)
        return f"{info}: {said}" if info else said
    if kind == "footnote":
        return inline(_FOOTNOTE.sub("", text, count=1))
    return inline(_TAB_LABEL.sub(r"\1: ", _VERBATIM.sub(" ", text)))


def item_words(text: str, inline: Inline) -> str:
    """The words of a list item after a dash, whatever its mark was."""
    found = _ITEM_MARK.match(text)
    return "- " + inline(text[found.end() :] if found else text)


def plain_text(markdown: str, *, mdx: bool = False) -> str:
    """Markdown as plain text, one block a line; for showing, not for citing."""
    lines: list[str] = []
    for block in scan(markdown, mdx=mdx):
        for start in range(block.start, block.end, _MAX_SLICE):
            part = markdown[start : min(block.end, start + _MAX_SLICE)]
            rendered = render(block.kind, part, info=block.info, inline=_inline(mdx))
            if rendered:
                lines.append(rendered)
    return "\n".join(lines)


def _nested(text: str, inline: Inline) -> str:
    """The words of the blocks inside another; what is quoted again is read as one run."""
    out: list[str] = []
    for block in scan(text):
        part = text[block.start : block.end]
        if block.kind == "quote":
            out.append(inline(_QUOTE_MARKS.sub("", part)))
        else:
            out.append(render(block.kind, part, info=block.info, inline=inline))
    return "\n".join(part for part in out if part)


def _inline(mdx: bool) -> Inline:
    return _mdx_words if mdx else words


def _mdx_words(text: str) -> str:
    return words(text, mdx=True)


@lru_cache(maxsize=1024)
def fence_label(info: str) -> str:
    """The language and the file name of an info string: `py title="a.py"` → `py a.py`."""
    language = _LANGUAGE.match(info)
    title = _TITLE.search(info)
    parts = (
        language.group(1) if language else "",
        (title.group(1) or title.group(2)) if title else "",
    )
    return " ".join(part for part in parts if part)


def _fence(text: str, info: str, inline: Inline) -> str:
    opening = _FENCE_OPEN.match(text)
    start = opening.end() if opening else 0
    last = max(start, text.rfind("\n", start) + 1)
    end = max(start, last - 1) if _FENCE_CLOSE.match(text, last) else len(text)
    code = text[start:end]
    if info == _UNWRAPPED:  # Docusaurus renders it as part of the page
        return _nested(code, inline)
    unopened = opening is None and text.lstrip().startswith(("```", "~~~"))
    if info[:1] == "{" and not unopened and (directive := MYST.match(info)):
        said = _directive(directive.group(1), directive.group(2).strip(), code, inline)
        if said is not None:
            return said
    label = fence_label(info)
    if "highlight-" in code:
        code = _MAGIC.sub("", code)
    code = _undrawn(_dedent(code))
    return f"{label}\n{code}" if label else code


def _directive(name: str, argument: str, text: str, inline: Inline) -> str | None:
    """The words of a MyST directive; None when the braces hold something else, as a language."""
    options = _OPTIONS.match(text)
    body = text[options.end() :] if options else text
    if name in MYST_SILENT:
        said = _ALTERNATIVE.search(text)
        return inline(said.group(1)) if said else ""
    if name in MYST_CODE:
        code = _undrawn(_dedent(body))
        return f"{argument}\n{code}" if argument and name != "math" else code
    if name == "eval-rst":
        return "\n".join(
            said
            for block in scan_restructured(body)
            if (
                said := render(
                    block.kind,
                    body[block.start : block.end],
                    info=block.info,
                    inline=restructured_words,
                )
            )
        )
    if name in MYST_PROSE:
        title = inline(argument) if name in _MYST_TITLED else name.capitalize()
        said = _nested(body, inline)
        return f"{title}: {said}" if title and said else title or said
    return None


def _undrawn(code: str) -> str:
    for rule in _RULES:
        if rule in code:
            return _RULE.sub(r"\1\2", code)
    return code


def _dedent(text: str) -> str:
    """Code without the indentation that all its lines share, and without trailing blanks."""
    lines = list(map(str.rstrip, text.split("\n")))
    if lines[0] and not lines[0][0].isspace():
        return "\n".join(lines).strip("\n")
    common = min([len(line) - len(line.lstrip()) for line in lines if line], default=0)
    return "\n".join([line[common:] for line in lines]).strip("\n")


def cells_of(row: str) -> list[str]:
    """The raw cells of a table row."""
    row = row.strip()
    cells = _CELL.split(row)
    if row.startswith("|"):
        del cells[0]
    if cells and row.endswith("|") and not row.endswith("\\|"):
        del cells[-1]
    return cells


def _table(text: str, header: str, inline: Inline) -> str:
    rows = [row for row in text.split("\n") if row.strip()]
    if not header and rows:
        header = rows.pop(0)
    names = [inline(cell) for cell in cells_of(header)]
    out: list[str] = []
    for row in rows:
        if not row.strip(" \t\r|:-"):
            continue
        parts: list[str] = []
        for column, cell in enumerate(cells_of(row)):
            value = inline(cell)
            name = names[column] if column < len(names) else ""
            if value:
                parts.append(f"{name}: {value}" if name else value)
        out.append("; ".join(parts))
    return "\n".join(out) if out else "; ".join(name for name in names if name)
