"""Which files of a folder are pages of its book: include, exclude, versions, translations."""

from __future__ import annotations

import re

from quire.books.book import Book

VERSIONED = "versioned_docs"
TRANSLATED = "i18n"


class Globs:
    """The `include` and `exclude` patterns of one book, compiled.

    Patterns are relative to the book's folder: `*` and `?` stay inside a segment, `**` spans
    segments, a pattern without a slash matches a name at any depth, and a pattern that names
    a folder covers what is below it. Other versions (`versioned_docs/`) and translations
    (`i18n/`, or `de/` beside `en/`) are left out unless an `include` pattern names that
    folder as one of its segments.
    """

    def __init__(self, book: Book) -> None:
        """Compile the patterns once for a walk."""
        self._include = [compile_glob(pattern) for pattern in book.include]
        self._exclude = [compile_glob(pattern) for pattern in book.exclude]
        named = {segment for pattern in book.include for segment in pattern.split("/")}
        self._closed = frozenset({VERSIONED, TRANSLATED, "versioned_sidebars"} - named)
        self._closed_locales = frozenset(
            locale for locale in book.locales if locale != book.language and locale not in named
        )
        self._listed = None if book.include or book.layout != "mdbook" else book.page_titles
        self._content = f"{book.content_dir}/" if book.content_dir else ""

    def may_hold_pages(self, folder: str) -> bool:
        """Whether a walk should enter this folder at all."""
        if folder.rpartition("/")[2] in self._closed:
            return False
        inner = folder.removeprefix(self._content)
        if "/" not in inner and inner in self._closed_locales:
            return False
        return not any(pattern.fullmatch(folder) for pattern in self._exclude)

    def matches(self, source_file: str) -> bool:
        """Whether a file is a page by its name."""
        if any(pattern.fullmatch(source_file) for pattern in self._exclude):
            return False
        if self._listed is not None:
            return source_file in self._listed
        if not self._include:
            return True
        return any(pattern.fullmatch(source_file) for pattern in self._include)


def compile_glob(pattern: str) -> re.Pattern[str]:
    """A glob as a regular expression over posix paths; raises `ValueError` for a bad one."""
    pattern = pattern.removeprefix("./").strip("/")
    if not pattern or len(pattern) > 400 or ".." in pattern.split("/"):
        raise ValueError("must be a path pattern below the book's folder")
    prefix = "" if "/" in pattern else "(?:.*/)?"
    return re.compile(prefix + _translate(pattern) + "(?:/.*)?", re.DOTALL)


def _translate(pattern: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            end = at
            while end < len(pattern) and pattern[end] == "*":
                end += 1
            if end - at == 1:
                out.append("[^/]*")
            elif end < len(pattern) and pattern[end] == "/":
                out.append("(?:.*/)?")
                end += 1
            else:
                out.append(".*")
            at = end
        elif char == "?":
            out.append("[^/]")
            at += 1
        elif char == "[" and "]" in pattern[at + 2 :]:
            end = pattern.index("]", at + 2)
            inner = pattern[at + 1 : end].replace("\\", r"\\")
            inner = "^" + inner[1:] if inner.startswith("!") else inner
            out.append(f"[{inner}]")
            at = end + 1
        else:
            out.append(re.escape(char))
            at += 1
    return "".join(out)
