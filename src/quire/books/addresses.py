"""The address of a page, as its site generator builds it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from quire.books.book import Book
from quire.books.files import INCLUDED
from quire.books.places import Place, place_of

_NUMBER_PREFIX = re.compile(r"\d+\s*[-_.]+\s*(?=[^-_.\s])")
_DATE_OR_VERSION = re.compile(r"\d+[-_.]\d+")
_SAFE = "/:@!$&'()*+,;=~-._"


def page_address(book: Book, source_file: str, front_matter: Mapping[str, Any]) -> str:
    """The page's URL without an anchor; site-relative (`/…`) when the book has no `base_url`."""
    place = place_of(book, source_file)
    if source_file.endswith((".rst", INCLUDED, ".ipynb")) and book.layout in ("plain", "mkdocs"):
        path = _html(place)
    elif book.layout == "mkdocs":
        path = _mkdocs(book, place)
    elif book.layout == "mdbook":
        path = _html(place)
    elif book.layout == "vitepress":
        path = _html(place, index="")
    else:
        path = _docusaurus(place, front_matter)
    return (book.base_url or "") + quote("/" + _mount(book, place) + path.lstrip("/"), safe=_SAFE)


def drop_number_prefix(name: str) -> str:
    """`01-intro` → `intro`; names that look like dates or versions stay whole."""
    if _DATE_OR_VERSION.match(name):
        return name
    return _NUMBER_PREFIX.sub("", name, count=1) if _NUMBER_PREFIX.match(name) else name


def _mount(book: Book, place: Place) -> str:
    """What stands between the site's root and the page's path in its tree."""
    locale = f"{place.locale}/" if place.locale and place.locale != book.language else ""
    if book.layout != "docusaurus" and book.layout != "plain":
        return locale
    version = f"{place.version}/" if place.version else ""
    served = f"{book.content_dir}/" if book.content_dir and book.layout == "docusaurus" else ""
    return locale + served + version


def _docusaurus(place: Place, front_matter: Mapping[str, Any]) -> str:
    folder = "/".join(drop_number_prefix(name) for name in place.folders)
    base = f"/{folder}/" if folder else "/"
    slug = front_matter.get("slug")
    if isinstance(slug, str | int) and str(slug).strip():
        text = str(slug).strip()
        trailing = "/" if text.endswith("/") and text != "/" else ""
        return posixpath.normpath(posixpath.join(base, text)).replace("//", "/") + trailing
    stem = place.stem.lower()
    if stem in ("index", "readme") or (place.folders and stem == place.folders[-1].lower()):
        return base
    identifier = front_matter.get("id")
    if isinstance(identifier, str | int) and str(identifier).strip():
        return base + str(identifier).strip().strip("/")
    return base + drop_number_prefix(place.stem)


def _mkdocs(book: Book, place: Place) -> str:
    folder = "".join(f"{name}/" for name in place.folders)
    if place.stem in ("index", "README"):
        return folder if book.directory_urls else f"{folder}index.html"
    return f"{folder}{place.stem}/" if book.directory_urls else f"{folder}{place.stem}.html"


def _html(place: Place, index: str = "index.html") -> str:
    folder = "".join(f"{name}/" for name in place.folders)
    if place.stem.lower() in ("index", "readme"):
        return folder + index
    return f"{folder}{place.stem}.html"
