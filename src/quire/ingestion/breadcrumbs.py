"""The way to a section, in words: `Module > Chapter > Page > Section`."""

from __future__ import annotations

from quire.books import Book
from quire.books.titles import title_from_name
from quire.ingestion.pages import Page

SEPARATOR = " > "


def breadcrumb(book: Book, page: Page, section_path: tuple[str, ...]) -> str:
    """Titles of the page's folders, the page and its sections; neighbours that repeat go."""
    titles: list[str] = []
    folder = page.place.prefix.rstrip("/")
    for name in page.place.folders:
        folder = f"{folder}/{name}" if folder else name
        titles.append(book.folder_titles.get(folder) or title_from_name(name))
    titles += [page.title, *section_path]
    kept = [title for at, title in enumerate(titles) if at == 0 or title != titles[at - 1]]
    return SEPARATOR.join(kept)
