"""The anchor of every heading of a page, as the book's site generator makes it."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from quire.books import Layout
from quire.ingestion.blocks import Block, scan
from quire.ingestion.inline import slug_text
from quire.ingestion.restructured import restructured_words

_EXPLICIT = re.compile(
    r"\s*\\?\{(?:/\*)?:?\s*(?:[^{}#]*\s)?#([^\s{}\\*]+)[^{}]*?(?:\*/)?\\?\}\s*\Z"
)
_CONTAINER = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_ITEM = re.compile(r"\A[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_MAYBE_NESTED = re.compile(r"(?:^|[>*+.)-])[ \t]*#{1,6}[ \t]", re.MULTILINE)
_MAX_NESTING = 5
MAX_TITLE = 300
"""Characters of a title; it stands in every chunk below its heading."""
_SLUG_KEPT = f"{string.ascii_letters}{string.digits}_ -".encode()
_SLUG_REMOVED = bytes(byte for byte in range(128) if byte not in _SLUG_KEPT)
_SLUG_WRITTEN = bytes.maketrans(
    f"{string.ascii_uppercase} ".encode(), f"{string.ascii_lowercase}-".encode()
)
_LETTER_SYMBOLS = (("\u24b6", "\u24e9"), ("🄰", "🅉"), ("🅐", "🅩"), ("🅰", "🆉"))
_NUMBERED = re.compile(r"(.*)_(\d{1,9})\Z", re.DOTALL)
_VITEPRESS_SPECIAL = re.compile(r"[\ufeff\s~`!@#$%^&*()\-_+=\[\]{}|\\;:\"'“”‘’<>,.?/]+")


class Anchored(NamedTuple):
    """A heading's plain text, cut to `MAX_TITLE`, and its anchor ('' if the site gives it none)."""

    title: str
    anchor: str


def anchors(
    text: str, blocks: Sequence[Block], layout: Layout, *, restructured: bool = False
) -> dict[int, Anchored]:
    """Title and anchor of each heading, by its index in `blocks`.

    Headings inside quotes and list items are no sections, but they count for the numbering of
    repeats. Docusaurus gives level-1 headings no anchor.
    """
    style = _docutils() if restructured else _STYLES[layout]()
    found: dict[int, Anchored] = {}
    for index, block in enumerate(blocks):
        if block.kind == "heading":
            raw = restructured_words(block.info) if restructured else block.info
            title, explicit = (raw, "") if restructured else split_explicit(raw)
            anchor = style(title, explicit)
            hidden = block.level == 1 and layout in ("docusaurus", "plain") and not explicit
            said = " ".join(title.split())[:MAX_TITLE].rstrip()
            found[index] = Anchored(said, "" if hidden else anchor)
        elif block.kind in ("quote", "item") and not restructured:
            if text.find("# ", block.start, block.end) < 0:
                continue
            inside = text[block.start : block.end]
            if _MAYBE_NESTED.search(inside):
                for nested in nested_headings(inside):
                    style(*split_explicit(nested))
    return found


def split_explicit(raw: str) -> tuple[str, str]:
    """(text, explicit id or '') of a raw heading; `{#id}`, `{ #id }`, `{/* #id */}`."""
    if raw.endswith("}"):
        found = _EXPLICIT.search(raw)
        if found:
            return slug_text(raw[: found.start()]), found.group(1)
    return slug_text(raw), ""


def github_slug(text: str) -> str:
    """What github-slugger makes of a text, repeats aside."""
    if text.isascii():
        return text.encode().translate(_SLUG_WRITTEN, _SLUG_REMOVED).decode()
    return "".join(char for char in text.lower() if _kept(char)).replace(" ", "-")


def python_markdown_slug(text: str) -> str:
    """What Python-Markdown's `toc` extension makes of a text (MkDocs)."""
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    text = re.sub(r"[^\w\s-]", "", text).strip().lower()
    return re.sub(r"[-\s]+", "-", text)


def mdbook_slug(text: str) -> str:
    """What mdBook makes of a text, repeats aside (since 0.5; before, only A–Z were lowered)."""
    return "".join(
        "-" if char.isspace() else char
        for char in text.strip().lower()
        if char in "_-" or char.isspace() or _alphanumeric(char)
    )


def vitepress_slug(text: str) -> str:
    """What VitePress makes of a text, repeats aside."""
    text = unicodedata.normalize("NFKD", text)
    text = "".join(char for char in text if not "\u0300" <= char <= "\u036f" and char >= " ")
    text = text.replace("\x85", "\0")  # no blank in JavaScript
    text = _VITEPRESS_SPECIAL.sub("-", text).strip("-").lower().replace("\0", "\x85")
    return f"_{text}" if text[:1].isascii() and text[:1].isdigit() else text


Style = Callable[[str, str], str]


def _numbered_from_one(slug: Callable[[str], str], *, explicit_counts: bool) -> Style:
    """Repeats get -1, -2, …, and a number that is taken itself is skipped."""
    seen: dict[str, int] = {}

    def style(title: str, explicit: str) -> str:
        if explicit and not explicit_counts:
            return explicit
        base = explicit or slug(title)
        result = base
        while result in seen:
            seen[base] += 1
            result = f"{base}-{seen[base]}"
        seen[result] = 0
        return result

    return style


def _python_markdown() -> Style:
    """Repeats get _1, _2, …; an explicit id is taken as it is and counts as used."""
    used: set[str] = set()
    reached: dict[str, tuple[str, int]] = {}

    def style(title: str, explicit: str) -> str:
        slug = explicit or python_markdown_slug(title)
        result = slug
        if not explicit and (result in used or not result):
            found = _NUMBERED.match(slug)
            start = (found.group(1), int(found.group(2))) if found else (slug, 0)
            base, number = reached.get(slug, start)
            while result in used or not result:
                number += 1
                result = f"{base}_{number}"
            reached[slug] = (base, number)
        used.add(result)
        return result

    return style


def _docutils() -> Style:
    return _numbered_from_one(docutils_slug, explicit_counts=True)


def docutils_slug(text: str) -> str:
    """What docutils' `make_id` makes of a text (Sphinx)."""
    text = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode("ascii")
    text = re.sub(r"[^a-z0-9]+", "-", " ".join(text.split()))
    return re.sub(r"^[-0-9]+|-+$", "", text)


def _github() -> Style:
    return _numbered_from_one(github_slug, explicit_counts=False)


def _mdbook() -> Style:
    return _numbered_from_one(mdbook_slug, explicit_counts=True)


def _vitepress() -> Style:
    return _numbered_from_one(vitepress_slug, explicit_counts=True)


_STYLES: dict[Layout, Callable[[], Style]] = {
    "docusaurus": _github,
    "plain": _github,
    "mkdocs": _python_markdown,
    "mdbook": _mdbook,
    "vitepress": _vitepress,
}


@lru_cache(maxsize=4096)
def _kept(char: str) -> bool:
    """Whether github-slugger keeps a character: letters, marks, digits, `_`, `-`, space."""
    if char in " -_":
        return True
    category = unicodedata.category(char)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc") or _letter_symbol(char)


@lru_cache(maxsize=4096)
def _alphanumeric(char: str) -> bool:
    """Whether Unicode calls a character alphabetic or numeric, as Rust does.

    Python leaves out vowel signs. What they are is not in its tables; this takes them by their
    combining class, which tells them from accents and viramas.
    """
    if char.isalnum() or _letter_symbol(char):
        return True
    category = unicodedata.category(char)
    if category == "Mn":
        combining = unicodedata.combining(char)
        selector = "\ufe00" <= char <= "\ufe0f"
        return 10 <= combining <= 132 or (combining == 0 and not selector)
    return category == "Mc"


def _letter_symbol(char: str) -> bool:
    return any(first <= char <= last for first, last in _LETTER_SYMBOLS)


def nested_headings(text: str) -> Iterator[str]:
    """Raw headings inside a quote or a list item; one level of containers at a time."""
    for _ in range(_MAX_NESTING):
        inner = _CONTAINER.sub("", text) if text.lstrip().startswith(">") else None
        text = _ITEM.sub("", text, count=1) if inner is None else inner
        blocks = scan(text)
        yield from (block.info for block in blocks if block.kind == "heading")
        nested = [block for block in blocks if block.kind in ("quote", "item")]
        if len(nested) != 1 or "#" not in text:
            return
        text = text[nested[0].start : nested[0].end]
