"""Recognising the site generator of a tree, and what its own files say of titles and URLs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from quire.books import safe_yaml
from quire.books.book import Layout

_MAX_BYTES = 1024 * 1024
_SUMMARY_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.){1,300})\]\(<?([^()<>\s]{1,300})>?\)")
_DOCUSAURUS = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs", "mts"))

_NO_PAGES_INSIDE = frozenset({"static", "assets", "img", "images", "public", "node_modules", "src"})


def _nothing() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What the site's own files say; empty where they are silent."""

    layout: Layout = "plain"
    content_dir: str = ""
    title: str | None = None
    base_url: str | None = None
    language: str | None = None
    directory_urls: bool = True
    page_titles: Mapping[str, str] = field(default_factory=_nothing)


def recognise(root: Path) -> Site:
    """The layout of a tree, from the files that its site generator needs.

    A folder of pages inside a Docusaurus site (the configuration is one level up) counts as
    Docusaurus. Without any such file the layout is `plain`, whose URLs follow Docusaurus.
    """
    for name in ("mkdocs.yml", "mkdocs.yaml"):
        if (root / name).is_file():
            return _mkdocs(root, root / name)
    if (root / "book.toml").is_file():
        return _mdbook(root)
    if any((root / name).is_file() for name in _DOCUSAURUS):
        return Site(layout="docusaurus", content_dir=_folder(root, "docs"))
    for folder in ("", "docs"):
        if (root / folder / ".vitepress").is_dir():
            return Site(layout="vitepress", content_dir=folder)
    if (root / "SUMMARY.md").is_file():
        titles = _summary(root, "SUMMARY.md", "")
        if titles:
            return Site(layout="mdbook", page_titles=titles)
    if _folder(root, "versioned_docs") or _folder(root, "i18n"):
        return Site(layout="docusaurus", content_dir=_folder(root, "docs"))
    if any((root.parent / name).is_file() for name in _DOCUSAURUS):
        return Site(layout="docusaurus")
    return Site(content_dir=_only_folder(root, "docs"))


def read_text(path: Path, root: Path) -> str | None:
    """A small text file of the site, or None when it isn't one inside the root."""
    try:
        if not path.is_file() or not path.resolve().is_relative_to(root):
            return None
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except OSError:
        return None
    return None if len(data) > _MAX_BYTES else data.decode("utf-8", "replace")


def _folder(root: Path, name: str) -> str:
    return name if (root / name).is_dir() else ""


def _only_folder(root: Path, name: str) -> str:
    """The folder's name when it is there and nothing else of the tree can hold pages."""
    if not (root / name).is_dir():
        return ""
    for path in root.iterdir():
        is_page = path.suffix in (".md", ".mdx", ".rst")
        is_other = path.is_dir() and path.name != name and path.name not in _NO_PAGES_INSIDE
        if is_page or (is_other and not path.name.startswith((".", "_"))):
            return ""
    return name


def _mkdocs(root: Path, path: Path) -> Site:
    try:
        loaded: Any = safe_yaml.load(read_text(path, root) or "", lenient=True)
    except safe_yaml.YamlRefused:
        loaded = {}
    values: dict[str, Any] = cast("dict[str, Any]", loaded) if isinstance(loaded, dict) else {}
    folder = str(values.get("docs_dir") or "docs").strip("/")
    if ".." in folder.split("/") or not (root / folder).is_dir():
        folder = ""
    titles = dict(_nav_titles(values.get("nav"), f"{folder}/" if folder else ""))
    url = values.get("site_url")
    return Site(
        layout="mkdocs",
        content_dir=folder,
        title=_text(values.get("site_name")),
        base_url=url.rstrip("/") if isinstance(url, str) and url.startswith("http") else None,
        directory_urls=values.get("use_directory_urls") is not False,
        page_titles=titles,
    )


def _nav_titles(nav: Any, prefix: str) -> Iterator[tuple[str, str]]:
    """(source file, title) of every titled page in MkDocs' nested navigation."""
    if isinstance(nav, list):
        for item in cast("list[Any]", nav):
            yield from _nav_titles(item, prefix)
    elif isinstance(nav, dict):
        for title, value in cast("dict[str, Any]", nav).items():
            if isinstance(value, str):
                yield prefix + value.removeprefix("./"), title
            else:
                yield from _nav_titles(value, prefix)


def _mdbook(root: Path) -> Site:
    try:
        values = tomllib.loads(read_text(root / "book.toml", root) or "")
    except (tomllib.TOMLDecodeError, RecursionError):
        values = {}
    book: Any = values.get("book")
    table = cast("dict[str, Any]", book) if isinstance(book, dict) else {}
    folder = str(table.get("src") or "src").strip("/")
    if ".." in folder.split("/") or not (root / folder).is_dir():
        folder = ""
    return Site(
        layout="mdbook",
        content_dir=folder,
        title=_text(table.get("title")),
        language=_text(table.get("language")),
        page_titles=_summary(root / folder, "SUMMARY.md", f"{folder}/" if folder else ""),
    )


def _summary(folder: Path, name: str, prefix: str) -> dict[str, str]:
    """Source file → title, in reading order, from an mdBook's summary."""
    text = read_text(folder / name, folder) or ""
    titles: dict[str, str] = {}
    for title, target in _SUMMARY_LINK.findall(text):
        target = target.partition("#")[0].removeprefix("./").replace("%20", " ")
        if target and "://" not in target:
            titles.setdefault(prefix + target, title.replace("`", "").strip())
    return titles


def _text(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None
