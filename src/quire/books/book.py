"""What a book is: a folder of pages, and what `quire.toml` and the site's own files say of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from quire.books.languages import is_locale
from quire.books.taxonomy import Taxonomy

Profile = Literal["lessons", "docs"]
Layout = Literal["docusaurus", "mkdocs", "mdbook", "vitepress", "plain"]

_GENERIC = frozenset(
    "docs doc documentation md markdown en src source content contents pages book website site "
    "current latest main html i18n versioned_docs".split()
)
_NO_SLUG = re.compile(r"[^a-z0-9]+")


def _nothing() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """A tree of pages with its settings; made by `load_book`, never changed."""

    id: str
    title: str
    root: Path
    """Absolute, links resolved."""
    base_url: str | None = None
    """Where the pages are served, without a trailing slash; None gives site-relative URLs."""
    profile: Profile = "docs"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """Questions a reader may start with."""
    taxonomy: Taxonomy = field(default_factory=Taxonomy)
    layout: Layout = "plain"
    content_dir: str = ""
    """The folder below the root that holds the pages (`docs` of a site, `src` of an mdBook)."""
    language: str = "en"
    """The language of pages that don't say theirs."""
    locales: tuple[str, ...] = ()
    """Folders directly below the content folder that hold one translation each."""
    directory_urls: bool = True
    """MkDocs' `use_directory_urls`."""
    page_titles: Mapping[str, str] = field(default_factory=_nothing)
    """Source file → title in the site's navigation."""
    folder_titles: Mapping[str, str] = field(default_factory=_nothing)
    """Folder (posix, relative to the root) → title shown in breadcrumbs."""

    @property
    def details(self) -> dict[str, Any]:
        """What readers may filter by and start with, as plain JSON values, kept with the book."""
        taxonomy = self.taxonomy
        return {
            "taxonomy": {
                "modules": list(taxonomy.modules),
                "tiers": list(taxonomy.tiers),
                "proficiency_levels": list(taxonomy.proficiency_levels),
                "layers": list(taxonomy.layers),
                "chapters": list(taxonomy.chapters) if taxonomy.chapters else None,
                "lessons": list(taxonomy.lessons) if taxonomy.lessons else None,
            },
            "examples": list(self.examples),
        }

    @property
    def settings_hash(self) -> str:
        """Changes with everything here that ends up in a chunk's metadata."""
        values = {
            "id": self.id,
            "base_url": self.base_url,
            "profile": self.profile,
            "taxonomy": {
                "modules": self.taxonomy.modules,
                "aliases": dict(self.taxonomy.aliases),
                "tiers": self.taxonomy.tiers,
                "levels": self.taxonomy.proficiency_levels,
                "layers": self.taxonomy.layers,
                "chapters": self.taxonomy.chapters,
                "lessons": self.taxonomy.lessons,
            },
            "layout": [self.layout, self.content_dir, self.directory_urls],
            "language": [self.language, self.locales],
            "titles": [dict(self.page_titles), dict(self.folder_titles)],
        }
        canonical = json.dumps(values, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


def slug_of_folder(root: Path) -> str:
    """A book id from a folder's name.

    Generic names (`docs`, `en`) give way to the parent's; a translation or a version of a
    book adds its own name to it (`docs/de` of `fastapi` is `fastapi-de`).
    """
    suffix = ""
    for folder in (root, *root.parents):
        name = folder.name
        slug = _NO_SLUG.sub("-", name.lower()).strip("-")
        if name.lower() in _GENERIC or name.startswith("docusaurus-plugin-"):
            continue
        if is_locale(name) or name.startswith("version-"):
            suffix = f"-{slug.removeprefix('version-')}{suffix}"
        elif slug:
            return (slug[:80].strip("-") + suffix)[:100]
        elif name:
            digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
            return f"book-{digest[:8]}{suffix}"
    return suffix.strip("-") or _NO_SLUG.sub("-", root.name.lower()).strip("-") or "book"
