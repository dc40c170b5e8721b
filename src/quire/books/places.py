"""Where a page stands in its book, told from its path alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from quire.books.book import Book
from quire.books.globs import TRANSLATED, VERSIONED
from quire.books.languages import is_locale

ROOT_MODULE = "root"
"""Module of pages that stand directly in the book's folder."""

_MODULE = re.compile(r"(?i)(?:\d+[-_. ]+)?module[-_ ]?\d+(?:[-_. ]+(.+))?\Z")
_CHAPTER = re.compile(r"(?i)(?:\d+[-_. ]+)?chapter[-_ ]?(\d{1,6})(?:[-_. ].*)?\Z")
_LESSON = re.compile(r"(?i)(?:lesson[-_ ]?)?(\d{1,6})(?:[-_. ].*)?\Z")
_OVERVIEW = frozenset({"readme", "index"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A page's module, chapter and lesson, and the tree it belongs to."""

    module: str
    chapter: int = 0
    lesson: int = 0
    is_lesson: bool = False
    """Whether the path alone names one lesson (or overview) of the book's main tree."""
    locale: str | None = None
    version: str | None = None
    folders: tuple[str, ...] = ()
    """Folders of the page inside its tree."""
    stem: str = ""
    prefix: str = ""
    """What stands before `folders` in the source file (`docs/`, `i18n/ur/…/current/`, …)."""
    warnings: tuple[str, ...] = ()


def place_of(book: Book, source_file: str) -> Place:
    """Read a path; never fails, unknown shapes are pages of their first folder."""
    prefix, rest, locale, version = split_tree(book, source_file)
    *folders, name = rest.removesuffix(".inc").split("/")
    page = Place(
        module=ROOT_MODULE,
        locale=locale,
        version=version,
        folders=tuple(folders),
        stem=name.rpartition(".")[0] or name,
        prefix=prefix,
    )
    if not folders:
        return page
    if book.profile != "lessons" or not _is_module(book, folders[0]):
        return replace(page, module=book.taxonomy.aliases.get(folders[0], folders[0]))
    warnings: list[str] = []
    module = _module(book, folders[0], warnings)
    chapter, lesson, exact = _numbers(folders[1:], page.stem)
    if not book.taxonomy.chapter_allowed(chapter) or not book.taxonomy.lesson_allowed(lesson):
        warnings.append(f"chapter {chapter}, lesson {lesson} is outside the book's ranges")
        chapter, lesson, exact = 0, 0, False
    return replace(
        page,
        module=module,
        chapter=chapter,
        lesson=lesson,
        is_lesson=exact and locale in (None, book.language) and version is None,
        warnings=tuple(warnings),
    )


def split_tree(book: Book, source_file: str) -> tuple[str, str, str | None, str | None]:
    """(prefix, path inside the tree, locale, version) of a source file.

    Docusaurus keeps versions in `versioned_docs/version-X/` and translations in
    `i18n/<locale>/docusaurus-plugin-content-docs/(current|version-X)/`; MkDocs and VitePress
    sites keep a translation in a folder named by its locale.
    """
    parts = source_file.split("/")
    locale: str | None = None
    version: str | None = None
    at = 0
    if parts[0] == TRANSLATED and len(parts) > 2 and is_locale(parts[1]):
        locale, at = parts[1], 2
        if len(parts) > at + 1 and parts[at].startswith("docusaurus-plugin-content-"):
            at += 1
        if len(parts) > at + 1 and (parts[at] == "current" or parts[at].startswith("version-")):
            version = parts[at].removeprefix("version-") if parts[at] != "current" else None
            at += 1
    elif parts[0] == VERSIONED and len(parts) > 2 and parts[1].startswith("version-"):
        version, at = parts[1].removeprefix("version-"), 2
    else:
        content = book.content_dir.split("/") if book.content_dir else []
        if content and parts[: len(content)] == content and len(parts) > len(content):
            at = len(content)
        if len(parts) > at + 1 and parts[at] in book.locales:
            locale, at = parts[at], at + 1
            if len(parts) > at + 1 and parts[at] == "docs":
                at += 1
    prefix = "/".join(parts[:at])
    return (prefix + "/" if prefix else ""), "/".join(parts[at:]), locale, version


def _is_module(book: Book, folder: str) -> bool:
    return folder in book.taxonomy.aliases or _MODULE.match(folder) is not None


def _module(book: Book, folder: str, warnings: list[str]) -> str:
    named = book.taxonomy.aliases.get(folder)
    if named is not None:
        return named
    found = _MODULE.match(folder)
    name = (found.group(1) if found else None) or folder
    module = book.taxonomy.module(name)
    if module is None:
        warnings.append(f"the folder '{folder}' is none of the book's modules")
    return module or name


def _numbers(folders: list[str], stem: str) -> tuple[int, int, bool]:
    """(chapter, lesson, whether the path is a lesson or an overview)."""
    overview = stem.lower() in _OVERVIEW
    if not folders:
        return 0, 0, overview
    found = _CHAPTER.match(folders[0])
    if found is None or len(folders) > 1:
        return (int(found.group(1)) if found else 0), 0, False
    chapter = int(found.group(1))
    if overview:
        return chapter, 0, True
    lesson = _LESSON.match(stem)
    return (chapter, int(lesson.group(1)), True) if lesson else (chapter, 0, False)
