"""Links between a book's pages, and those that lead nowhere."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from quire.evaluation.corpus import PAGE_SUFFIXES, without_suffix
from quire.evaluation.outline import Outline
from quire.ingestion.pages import Page

_INLINE = re.compile(r"!?\[(?:[^\]\\]|\\.){0,500}\]\(\s*<?([^\s)<>]{1,500})>?[^)]{0,300}\)")
_REFERENCE = re.compile(r"^\s{0,3}\[[^\]^]{1,200}\]:\s*<?(\S{1,500}?)>?(?:\s|$)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"\b(?:href|src|to)\s*=\s*[\"']([^\"'{}]{1,500})[\"']")
_HTML_ID = re.compile(r"\b(?:id|name)\s*=\s*[\"']([^\"'{}]{1,200})[\"']")
_CODE = re.compile(r"(`+)[^`].*?(?<!`)\1(?!`)", re.DOTALL)
_VERBATIM = frozenset({"fence", "code", "comment", "esm", "math"})


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link of a page that leads to no page, file or anchor of the book."""

    source_file: str
    line: int
    target: str
    problem: str


def broken_links(outline: Outline, root: Path) -> list[BrokenLink]:
    """All broken links between the book's pages; addresses elsewhere are not followed."""
    pages = {page.source_file: page for page in outline.pages()}
    targets = _Targets(pages, root)
    found: list[BrokenLink] = []
    for page in pages.values():
        for offset, target in links(page):
            problem = targets.problem(page, target)
            if problem:
                line = page.source.count("\n", 0, offset) + 1
                found.append(BrokenLink(page.source_file, line, target, problem))
    return found


def links(page: Page) -> Iterator[tuple[int, str]]:
    """Offset and target of every link outside code."""
    if page.format not in ("markdown", "mdx"):
        return
    for block in page.blocks:
        if block.kind in _VERBATIM:
            continue
        text = page.text[block.start : block.end]
        masked = _CODE.sub(lambda code: " " * len(code.group()), text)
        patterns = (_REFERENCE,) if block.kind == "definition" else (_INLINE, _ATTRIBUTE)
        for pattern in patterns:
            for match in pattern.finditer(masked):
                yield block.start + match.start(), match.group(1)


class _Targets:
    """What a link may lead to."""

    def __init__(self, pages: dict[str, Page], root: Path) -> None:
        self._root = root
        self._pages = pages
        self._by_stem = {without_suffix(name): page for name, page in pages.items()}
        self._by_url = {_path_of(page.url): page for page in pages.values()}
        self._anchors: dict[str, set[str]] = {}

    def problem(self, page: Page, target: str) -> str | None:
        """Why the link is broken; None when it works or leads out of the book."""
        parts = urlsplit(target)
        if parts.scheme or parts.netloc or target.startswith(("mailto:", "@", "pathname:")):
            return None
        path, anchor = unquote(parts.path), unquote(parts.fragment)
        if not path:
            return self._anchor_problem(page, anchor)
        found = self._page(page, path)
        if found is not None:
            return self._anchor_problem(found, anchor)
        return None if self._is_file(page, path) else "no such page or file"

    def _page(self, page: Page, path: str) -> Page | None:
        folder = posixpath.dirname(page.source_file)
        below = path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path)
        name = posixpath.normpath(below)
        stem = without_suffix(name.removesuffix(".html"))
        candidates = (stem, f"{stem}/README", f"{stem}/index")
        for candidate in candidates:
            if candidate in self._by_stem:
                return self._by_stem[candidate]
        base = _path_of(page.url)
        absolute = path if path.startswith("/") else posixpath.join(posixpath.dirname(base), path)
        return self._by_url.get(_path_of(absolute)) or self._by_url.get(
            _path_of(posixpath.join(base, path))
        )

    def _is_file(self, page: Page, path: str) -> bool:
        if path.lower().endswith(PAGE_SUFFIXES):
            # a page the book leaves out (a partial, a draft) is on disk all the same
            return (self._root / posixpath.dirname(page.source_file) / path).is_file()
        folders = (posixpath.dirname(page.source_file), "", "static", "../static", "public")
        return (
            any((self._root / folder / path.lstrip("/")).exists() for folder in folders)
            or (self._root / posixpath.dirname(page.source_file) / path).exists()
        )

    def _anchor_problem(self, page: Page, anchor: str) -> str | None:
        if not anchor or anchor in self._known_anchors(page):
            return None
        return f"no anchor '#{anchor}' on {page.source_file}"

    def _known_anchors(self, page: Page) -> set[str]:
        known = self._anchors.get(page.source_file)
        if known is None:
            known = {heading.anchor for heading in page.headings.values()}
            known |= set(_HTML_ID.findall(page.source))
            self._anchors[page.source_file] = known
        return known


def _path_of(address: str) -> str:
    """The path of an address without trailing slash, the same for all its spellings."""
    return posixpath.normpath(unquote(urlsplit(address).path) or "/").removesuffix(".html")
