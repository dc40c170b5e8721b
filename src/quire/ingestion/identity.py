"""Who a chunk is: ids that depend on content, so that what didn't change keeps its id."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from quire.books import Book, SourceFile, place_of
from quire.models import NAMESPACE

if TYPE_CHECKING:
    from quire.ingestion.pages import Page

_NAMESPACE = NAMESPACE.bytes

LessonKey = tuple[str, int, int]
"""Module, chapter, lesson."""


@dataclass(frozen=True, slots=True)
class LessonKeys:
    """Which files are the only one to claim their lesson; decided from the paths alone.

    Such a page's ids are made of its place (`book:module:chapter:lesson:…`). Every other page
    (no lesson, a translation, another version, two files for one lesson, or front matter
    that moves the page to another lesson) is identified by its file.
    """

    keys: Mapping[str, LessonKey] = field(default_factory=dict[str, LessonKey])

    @classmethod
    def from_files(cls, book: Book, files: Iterable[SourceFile | str]) -> LessonKeys:
        """Read the claims of all discovered files of a book."""
        if book.profile != "lessons":
            return cls()
        claims: dict[LessonKey, list[str]] = {}
        for file in files:
            name = file if isinstance(file, str) else file.source_file
            place = place_of(book, name)
            if place.is_lesson:
                claims.setdefault((place.module, place.chapter, place.lesson), []).append(name)
        return cls({names[0]: key for key, names in claims.items() if len(names) == 1})

    def only(self, source_file: str) -> LessonKeys:
        """What is known of one file: all that its own ids depend on."""
        key = self.keys.get(source_file)
        return LessonKeys({} if key is None else {source_file: key})

    def scope(self, book_id: str, page: Page) -> str:
        """What the ids of a page begin with: `book:module:chapter:lesson` or `book:file`."""
        key = self.keys.get(page.source_file)
        if key is not None and key == (page.module, page.chapter, page.lesson):
            return f"{book_id}:{key[0]}:{key[1]}:{key[2]}"
        return f"{book_id}:{page.source_file}"


def named_uuid(name: str) -> str:
    """`str(uuid.uuid5(NAMESPACE, name))`, at a fifth of its cost: there is one per chunk."""
    text = hashlib.sha1(_NAMESPACE + name.encode(), usedforsecurity=False).hexdigest()
    variant = "89ab"[int(text[16], 16) & 3]
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def parent_id(scope: str) -> str:
    """The id that all chunks of a page share."""
    return named_uuid(f"{scope}:parent")


def chunk_ids(scope: str, content_hashes: Iterable[str]) -> list[str]:
    """One id per chunk, in order; the second and later equal texts get `:1`, `:2`, …."""
    seen: dict[str, int] = {}
    ids: list[str] = []
    for content_hash in content_hashes:
        short = content_hash[:16]
        repeats = seen.get(short, 0)
        seen[short] = repeats + 1
        suffix = f":{repeats}" if repeats else ""
        ids.append(named_uuid(f"{scope}:{short}{suffix}"))
    return ids


def sha256(text: str) -> str:
    """Hexadecimal SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()
