"""The way to a section, in words: `Module > Chapter > Page > Section`."""

from __future__ import annotations

from itertools import groupby

from quire.books import Book
from quire.books.titles import title_from_name
from quire.ingestion.pages import Page

SEPARATOR = " > "


class Trail:
    """The breadcrumbs of one page."""

    def __init__(self, book: Book, page: Page) -> None:
        """Name the page's folders: by what they say of themselves, else by their names."""
        titles: list[str] = []
        folder = page.place.prefix.rstrip("/")
        for name in page.place.folders:
            folder = f"{folder}/{name}" if folder else name
            titles.append(book.folder_titles.get(folder) or title_from_name(name))
        self._titles = [*titles, page.title]

    def to(self, section_path: tuple[str, ...]) -> str:
        """Folders, page and sections; neighbours with the same title are named once."""
        return SEPARATOR.join([title for title, _ in groupby((*self._titles, *section_path))])
