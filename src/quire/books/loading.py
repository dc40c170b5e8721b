"""Opening a folder as a book."""

from __future__ import annotations

from pathlib import Path

from quire.books.book import Book, Layout, Profile, slug_of_folder
from quire.books.configuration import check_id, read_configuration
from quire.books.languages import locale_of_root, locales_of_tree
from quire.books.layouts import recognise
from quire.books.titles import folder_titles, title_from_name
from quire.errors import InvalidRequest, NotFound

_LESSON_SHAPES = tuple(
    f"{prefix}module-*/chapter-*/[0-9]*[-_]*.{suffix}"
    for prefix in ("", "docs/")
    for suffix in ("md", "mdx")
)


def load_book(root: Path, *, book_id: str | None = None) -> Book:
    """The book in a folder; `book_id` wins over `quire.toml`, and that over the folder's name.

    Raises `NotFound` when the folder isn't there, `InvalidRequest` when it is no folder, and
    `InvalidBook` with one line that names the key when `quire.toml` is wrong.
    """
    try:
        root = root.expanduser().resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as error:
        raise NotFound(f"there is no folder '{root}'", details={"path": str(root)}) from error
    if not root.is_dir():
        raise InvalidRequest(f"'{root}' is not a folder", field="path")
    configured = read_configuration(root)
    if book_id is not None:
        check_id(book_id, "book id")
    site = recognise(root)
    identifier = book_id or configured.id or slug_of_folder(root)
    layout: Layout = configured.layout or site.layout
    content_dir = site.content_dir if configured.content_dir is None else configured.content_dir
    locales = locales_of_tree(root / content_dir, alone=layout == "vitepress")
    language = configured.language or site.language or locale_of_root(root) or "en"
    if locales and language not in locales and layout != "vitepress":
        language = locales[0]
    return Book(
        id=identifier,
        title=configured.title or site.title or title_from_name(slug_of_folder(root)),
        root=root,
        base_url=configured.base_url or site.base_url,
        profile=configured.profile or _profile(root),
        include=configured.include,
        exclude=configured.exclude,
        examples=configured.examples,
        taxonomy=configured.taxonomy,
        layout=layout,
        content_dir=content_dir,
        language=language,
        locales=locales,
        directory_urls=site.directory_urls,
        page_titles=site.page_titles,
        folder_titles=folder_titles(root),
    )


def _profile(root: Path) -> Profile:
    for shape in _LESSON_SHAPES:
        if next(root.glob(shape), None) is not None:
            return "lessons"
    return "docs"
