"""What is measured on: a tree of pages, or a `corpus.jsonl` laid out as one page a document."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from quire.errors import InvalidRequest, NotFound

PAGE_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".ipynb", ".txt")
_TREES = ("md", "docs")
_UNTITLED = "Text"
_NO_WORD = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pages on disk, and the names by which questions speak of them."""

    name: str
    source: Path
    """The folder or the `corpus.jsonl` as it was given."""
    root: Path
    """The folder that is ingested."""
    documents: Mapping[str, str] = field(default_factory=dict[str, str])
    """Source file → document id, for a corpus made from JSONL; empty for a tree."""

    def page_id(self, source_file: str) -> str:
        """The page's one name in rankings: its document id, or its path without extension."""
        return self.documents.get(source_file) or without_suffix(source_file)

    def source_files(self) -> list[str]:
        """All pages there are, whether the book takes them in or not."""
        if self.documents:
            return list(self.documents)
        return sorted(
            path.relative_to(self.root).as_posix()
            for path in self.root.rglob("*")
            if path.suffix.lower() in PAGE_SUFFIXES and path.is_file()
        )


class PageNames:
    """Resolves the ids of labelled questions to pages and anchors of one corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._files = {corpus.page_id(name): name for name in corpus.source_files()}

    def resolve(self, relevant: str) -> tuple[str, str | None]:
        """Page id and anchor; an exact document id wins over reading `#` as an anchor."""
        name = relevant.removeprefix("./").removeprefix("/")
        if name in self._files:
            return name, None
        page, _, anchor = name.partition("#")
        return (page if page in self._files else without_suffix(page)), anchor or None

    def knows(self, page_id: str) -> bool:
        """Whether the corpus has this page."""
        return page_id in self._files

    def source_file(self, page_id: str) -> str | None:
        """The page's file below the corpus's root."""
        return self._files.get(page_id)

    def page_id(self, source_file: str) -> str:
        """The name of an ingested file."""
        return self._corpus.page_id(source_file)


def without_suffix(path: str) -> str:
    """The path without a page's extension; other dots are part of the name."""
    return path.rsplit(".", 1)[0] if path.lower().endswith(PAGE_SUFFIXES) else path


def find_corpus(path: Path, *, pages: Path) -> Corpus:
    """The corpus at a path; JSONL documents are written as pages below `pages`.

    A folder that holds `md/` or `docs/` and no pages of its own stands for that tree, one
    that holds only a `corpus.jsonl` for that file.
    """
    path = path.expanduser()
    if path.is_file():
        return _from_jsonl(path, pages)
    if not path.is_dir():
        raise NotFound(f"there is no corpus '{path}'", details={"path": str(path)})
    path = path.resolve()
    if (path / "corpus.jsonl").is_file():
        for tree in _TREES:
            if (path / tree).is_dir():
                return Corpus(name=path.name, source=path / tree, root=path / tree)
        return _from_jsonl(path / "corpus.jsonl", pages)
    return Corpus(name=_name_of(path), source=path, root=path)


def _name_of(path: Path) -> str:
    generic = path.name in (*_TREES, "src", "content", "pages")
    return path.parent.name if generic and path.parent.name else path.name


def _from_jsonl(path: Path, pages: Path) -> Corpus:
    path = path.resolve()
    documents: dict[str, str] = {}
    contents: dict[str, str] = {}
    for number, row in _rows(path):
        identifier = row.get("_id", row.get("id"))
        text = row.get("text")
        if identifier is None or not isinstance(text, str):
            raise InvalidRequest(f"{path}:{number}: needs '_id' and 'text'")
        name = file_name(str(identifier))
        if name in documents:
            raise InvalidRequest(f"{path}:{number}: the document '{identifier}' occurs twice")
        documents[name] = str(identifier)
        contents[name] = page_text(str(row.get("title") or ""), text)
    _lay_out(contents, pages)
    name = path.stem if path.stem != "corpus" else path.parent.name
    return Corpus(name=name, source=path, root=pages, documents=documents)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (json.JSONDecodeError, UnicodeDecodeError) as error:
                raise InvalidRequest(f"{path}:{number}: is not JSON: {error}") from error
            if not isinstance(row, dict):
                raise InvalidRequest(f"{path}:{number}: must be a JSON object")
            yield number, row


def file_name(identifier: str) -> str:
    """A flat file name that is stable for the id and says what the id says.

    An id is often the page's address, and a page's path counts in a search.
    """
    words = _NO_WORD.sub("-", identifier).strip("-")[:120]
    digest = hashlib.sha256(identifier.encode()).hexdigest()[:16]
    return f"{words}-{digest}.md".removeprefix("-")


def page_text(title: str, text: str) -> str:
    """A document as a Markdown page; its title is a heading unless the text has one."""
    title = " ".join(title.split())
    if not title:
        return f"---\ntitle: {_UNTITLED}\n---\n\n{text}\n"
    if text.lstrip().startswith("# "):
        return f"{text}\n"
    return f"# {title}\n\n{text}\n"


def _lay_out(contents: Mapping[str, str], pages: Path) -> None:
    """Make the folder hold exactly these pages; unchanged files are not touched."""
    pages.mkdir(parents=True, exist_ok=True)
    for stale in {path.name for path in pages.iterdir()} - set(contents):
        (pages / stale).unlink()
    for name, text in contents.items():
        file = pages / PurePosixPath(name)
        data = text.encode()
        if not file.is_file() or file.read_bytes() != data:
            file.write_bytes(data)
