"""A book's pages and sections with their extents in the files, as ingestion reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from quire.books import SourceFile, discover, load_book, read_bytes
from quire.errors import PageRejected
from quire.evaluation.matching import slug
from quire.ingestion.pages import Page, Skipped, read_page
from quire.ingestion.sections import sections
from quire.models import Chunk

_LEAST_OVERLAP = 0.2
"""Share of a chunk (or of a smaller section) that must lie in the section."""


@dataclass(frozen=True, slots=True)
class OutlinedSection:
    """A section: `source[start:end]` is its own text, up to `inner_end` with those below it."""

    source_file: str
    page_title: str
    path: tuple[str, ...]
    anchor: str
    start: int
    end: int
    inner_end: int

    @property
    def title(self) -> str:
        """Its heading, or the page's title for what stands under that."""
        return self.path[-1] if self.path else self.page_title

    @property
    def place(self) -> str:
        """The page and the anchor, as questions name sections."""
        return f"{self.source_file}#{self.anchor}" if self.anchor else self.source_file

    def overlaps(self, chunk: Chunk, *, nested: bool = True) -> bool:
        """Whether a fair part of the chunk lies in the section."""
        end = self.inner_end if nested else self.end
        shared = min(end, chunk.char_end) - max(self.start, chunk.char_start)
        smaller = min(end - self.start, chunk.char_end - chunk.char_start)
        return chunk.source_file == self.source_file and shared > _LEAST_OVERLAP * smaller


class Outline:
    """Reads the pages of a book on demand and remembers their sections."""

    def __init__(self, root: Path) -> None:
        self._book = load_book(root)
        self._files = {file.source_file: file for file in discover(self._book)}
        self._sections: dict[str, list[OutlinedSection]] = {}

    @property
    def source_files(self) -> list[str]:
        """All pages the book takes in."""
        return list(self._files)

    def page(self, source_file: str) -> Page | None:
        """The page as ingestion reads it; None for drafts, partials and unreadable files."""
        file = self._files.get(source_file)
        return None if file is None else self._read(file)

    def pages(self) -> Iterator[Page]:
        """All readable pages, in order."""
        for file in self._files.values():
            page = self._read(file)
            if page is not None:
                yield page

    def sections(self, source_file: str) -> list[OutlinedSection]:
        """The page's sections in order; empty when it can't be read."""
        if source_file not in self._sections:
            page = self.page(source_file)
            self._sections[source_file] = _outlined(page) if page else []
        return self._sections[source_file]

    def section(self, source_file: str, anchor: str) -> OutlinedSection | None:
        """The section with this anchor, else the one whose heading reads like it."""
        found = self.sections(source_file)
        wanted = slug(anchor)
        candidates = [
            *(section for section in found if section.anchor == anchor),
            *(section for section in found if slug(section.anchor) == wanted),
            *(section for section in found if slug(section.title) == wanted),
        ]
        return candidates[0] if candidates else None

    def _read(self, file: SourceFile) -> Page | None:
        try:
            page = read_page(self._book, file.source_file, read_bytes(file))
        except PageRejected:
            return None
        return None if isinstance(page, Skipped) else page


def _outlined(page: Page) -> list[OutlinedSection]:
    found = sections(page)
    ranges = [page.origin(block.start, block.end) for block in page.blocks]
    starts = [ranges[section.first][0] for section in found]
    finish = ranges[-1][1]
    outlined: list[OutlinedSection] = []
    for number, section in enumerate(found):
        following = range(number + 1, len(found))
        inner = next((n for n in following if found[n].level <= section.level), None)
        outlined.append(
            OutlinedSection(
                source_file=page.source_file,
                page_title=page.title,
                path=section.path,
                anchor=section.anchor,
                start=starts[number],
                end=starts[number + 1] if number + 1 < len(found) else finish,
                inner_end=finish if inner is None else starts[inner],
            )
        )
    return outlined
