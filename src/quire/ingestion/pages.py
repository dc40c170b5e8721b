"""Reading a page: decoding, front matter, blocks, and what its metadata says."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from quire.books import Book, Place, SourceFile, page_address, place_of, read_bytes
from quire.books.titles import title_from_name
from quire.errors import PageRejected
from quire.ingestion.anchors import MAX_TITLE, Anchored, anchors
from quire.ingestion.blocks import Block, bounded, scan
from quire.ingestion.frontmatter import read_front_matter
from quire.ingestion.inline import words
from quire.ingestion.notebooks import Segment, read_notebook
from quire.ingestion.restructured import is_restructured, scan_restructured

Format = Literal["markdown", "mdx", "restructured", "notebook", "text"]

_FORMATS: Mapping[str, Format] = {
    "md": "markdown",
    "markdown": "markdown",
    "mdx": "mdx",
    "rst": "restructured",
    "ipynb": "notebook",
    "txt": "text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A source file that has been read.

    `source` is the file decoded as UTF-8, nothing translated: a byte-order mark stays (in no
    chunk), line ends stay. `text` is what is read; it is `source` itself except for notebooks,
    whose cells are unescaped, and `origin` maps its offsets back to the file's.
    """

    source_file: str
    source: str
    source_hash: str
    format: Format
    text: str
    blocks: Sequence[Block]
    headings: Mapping[int, Anchored]
    """Title and anchor of the heading blocks, by index."""
    segments: Sequence[Segment] = ()
    """For notebooks: which characters of `text` stand where in `source`."""
    breaks: frozenset[int] = frozenset()
    """For notebooks: blocks that begin a cell; no chunk crosses them."""
    title: str
    url: str
    """Without an anchor."""
    language: str
    place: Place
    module: str
    chapter: int
    lesson: int
    hardware_tier: int
    proficiency_level: str
    layer: str
    front_matter: Mapping[str, Any] = field(default_factory=dict[str, Any])
    warnings: tuple[str, ...] = ()

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The range in the file of a range of `text` that is not empty."""
        if not self.segments:
            return start, end
        first = self._segment(start)
        last = self._segment(end - 1)
        ahead = end - 1 - last.here
        return first.there + start - first.here, last.there + ahead + (1 if ahead else last.width)

    def _segment(self, offset: int) -> Segment:
        return self.segments[bisect_right(self.segments, offset, key=_here) - 1]


def _here(segment: Segment) -> int:
    return segment.here


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is no page to index, and why (`draft`, `unlisted`, `partial`, `empty`)."""

    source_file: str
    reason: str


def rejections(book: Book, files: Iterable[SourceFile]) -> list[PageRejected]:
    """Why those of the files that can't be read can't be; blocks on the disk."""
    found: list[PageRejected] = []
    for file in files:
        try:
            read_page(book, file.source_file, read_bytes(file))
        except PageRejected as error:
            found.append(error)
    return found


def read_page(book: Book, source_file: str, data: bytes) -> Page | Skipped:
    """Read one source file; pure, the same bytes always give the same page.

    As in a Docusaurus production build, drafts are skipped; unlisted pages are skipped too,
    since their authors don't want them found. Raises `PageRejected` with the line for what
    can't be read. A metadata value the book does not declare is no reason to reject a page: it
    becomes a warning and the default is used.
    """
    suffix = source_file.removesuffix(".inc").rpartition(".")[2].lower()
    kind = _FORMATS.get(suffix)
    if kind is None:
        raise PageRejected(f"files of type '.{suffix}' are not read", source_file=source_file)
    if any(part.startswith("_") for part in source_file.split("/")):
        return Skipped(source_file, "partial")
    source = decode(data, source_file)
    values: Mapping[str, Any] = {}
    text = source
    segments: Sequence[Segment] = ()
    breaks: frozenset[int] = frozenset()
    start = 1 if source.startswith("\ufeff") else 0
    if kind == "text" and is_restructured(source):
        kind = "restructured"
    if kind == "notebook":
        notebook = read_notebook(source, source_file)
        text, segments, blocks = notebook.text, notebook.segments, notebook.blocks
        breaks = frozenset(notebook.breaks)
    elif kind == "restructured":
        blocks = bounded(scan_restructured(source, start))
    elif kind == "text":
        blocks = bounded(scan_text(source, start))
    else:
        front = read_front_matter(source, source_file)
        values = front.values
        blocks = bounded(scan(source, front.body_start, mdx=kind == "mdx"))
    if values.get("draft") is True:
        return Skipped(source_file, "draft")
    if values.get("unlisted") is True:
        return Skipped(source_file, "unlisted")
    if not blocks:
        return Skipped(source_file, "empty")
    headings = anchors(text, blocks, book.layout, restructured=kind == "restructured")
    place = place_of(book, source_file)
    warnings = list(place.warnings)
    module, chapter, lesson = _where(book, place, values, warnings)
    taxonomy = book.taxonomy
    tier = _declared(values, "hardware_tier", taxonomy.tier, taxonomy.default_tier, warnings)
    level = _declared(values, "proficiency_level", taxonomy.level, taxonomy.default_level, warnings)
    layer = _declared(values, "layer", taxonomy.layer, taxonomy.default_layer, warnings)
    return Page(
        source_file=source_file,
        source=source,
        source_hash=hashlib.sha256(data).hexdigest(),
        format=kind,
        text=text,
        blocks=blocks,
        headings=headings,
        segments=segments,
        breaks=breaks,
        title=_title(book, source_file, place, values, blocks, headings),
        url=page_address(book, source_file, values),
        language=_language(book, place, values),
        place=place,
        module=module,
        chapter=chapter,
        lesson=lesson,
        hardware_tier=tier,
        proficiency_level=level,
        layer=layer,
        front_matter=values,
        warnings=tuple(warnings),
    )


def decode(data: bytes, source_file: str) -> str:
    """The file as text, untranslated; `PageRejected` for invalid UTF-8 and NUL bytes."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = " (it looks like UTF-16)" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        raise PageRejected(
            f"is not UTF-8: bad byte at offset {error.start}{hint}",
            source_file=source_file,
            line=line,
        ) from error
    at = text.find("\0")
    if at >= 0:
        raise PageRejected(
            f"holds a NUL character at offset {at}",
            source_file=source_file,
            line=text.count("\n", 0, at) + 1,
        )
    return text


def scan_text(text: str, start: int = 0) -> list[Block]:
    """The paragraphs of plain text: runs of lines between blank ones."""
    blocks: list[Block] = []
    at = start
    begin = end = -1
    for line in text[start:].split("\n"):
        if line.strip():
            begin = at if begin < 0 else begin
            end = at + len(line.rstrip())
        elif begin >= 0:
            blocks.append(Block("paragraph", begin, end))
            begin = -1
        at += len(line) + 1
    if begin >= 0:
        blocks.append(Block("paragraph", begin, end))
    return blocks


def _title(
    book: Book,
    source_file: str,
    place: Place,
    values: Mapping[str, Any],
    blocks: Sequence[Block],
    headings: Mapping[int, Anchored],
) -> str:
    """Front matter, the site's navigation, the first top heading, or the file's name."""
    title = values.get("title")
    if isinstance(title, str | int | float) and str(title).strip():
        return words(str(title)[:MAX_TITLE]) or place.stem
    listed = book.page_titles.get(source_file)
    first = next(
        (
            headings[index].title
            for index, block in enumerate(blocks)
            if index in headings and block.level == 1
        ),
        None,
    )
    if book.layout == "mkdocs" and listed:
        return words(listed)
    if first or listed:
        return first or words(listed or "")
    overview = place.stem.lower() in ("index", "readme") and place.folders
    name = place.folders[-1] if overview else place.stem
    return title_from_name(name) or place.stem


def _language(book: Book, place: Place, values: Mapping[str, Any]) -> str:
    for key in ("lang", "language"):
        value = values.get(key)
        if isinstance(value, str) and 1 < len(value.strip()) <= 35:
            return value.strip()
    return place.locale or book.language


def _where(
    book: Book, place: Place, values: Mapping[str, Any], warnings: list[str]
) -> tuple[str, int, int]:
    module, chapter, lesson = place.module, place.chapter, place.lesson
    if book.profile != "lessons":
        return module, chapter, lesson
    named = values.get("module")
    if isinstance(named, str) and named.strip():
        allowed = book.taxonomy.module(named.strip())
        if allowed is None:
            warnings.append(f"module '{named}' is none of the book's; '{module}' is used")
        module = allowed or module
    chapter = _number(values, "chapter", chapter, book.taxonomy.chapter_allowed, warnings)
    lesson = _number(values, "lesson", lesson, book.taxonomy.lesson_allowed, warnings)
    return module, chapter, lesson


def _number(
    values: Mapping[str, Any], key: str, default: int, allowed: Any, warnings: list[str]
) -> int:
    value = values.get(key)
    if value is None:
        return default
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0 and allowed(value):
        return value
    warnings.append(f"{key} {value!r} is not one of the book's; {default} is used")
    return default


def _declared(
    values: Mapping[str, Any], key: str, read: Any, default: Any, warnings: list[str]
) -> Any:
    value = values.get(key)
    if value is None:
        return default
    found = read(value)
    if found is None or str(found) != str(value):
        used = default if found is None else found
        warnings.append(f"{key} {value!r} is not one of the book's; {used!r} is used")
        return used
    return found
