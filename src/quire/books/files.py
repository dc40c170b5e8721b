"""Finding a book's source files and reading them without ever leaving its folder."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from quire.books.book import Book
from quire.books.globs import Globs
from quire.errors import NotFound, PageRejected

MAX_BYTES = 50 * 1024 * 1024
"""Default limit on the size of one page."""

SUFFIXES = frozenset({".md", ".mdx", ".markdown", ".rst", ".ipynb", ".txt"})
INCLUDED = ".rst.inc"
"""A part of a page that stands in a file of its own, beside the page that includes it."""

_UNSAFE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_NO_PAGES = ("requirements", "cmakelists", "license", "licence", "robots", "humans", "llms")
_NEVER = frozenset({"node_modules", "__pycache__", "_build", "_site"})
_MAYBE_OUTPUT = frozenset({"build", "dist", "out", "site", "book", "public", "target", "html"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A page's file: where it is, and its name in the book (posix, relative to the root)."""

    path: Path
    """Absolute, with every symbolic link resolved."""
    source_file: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a walk found, and what it refused with the reason for each."""

    files: tuple[SourceFile, ...]
    refused: tuple[tuple[str, str], ...]


def discover(book: Book) -> list[SourceFile]:
    """The book's pages, sorted by `source_file`; see `survey` for what is left out."""
    return list(survey(book).files)


def survey(book: Book) -> Discovery:
    """Walk the book's folder.

    Left out without a word: hidden files and folders, `node_modules`, build output, partials
    (names that start with `_`), what `exclude` names or `include` does not, versions other
    than the current one and translations (unless an `include` pattern names them), and, in
    an mdBook, files that `SUMMARY.md` does not list. Refused with a reason: links that leave
    the folder, links to folders, devices and pipes, names that are no UTF-8.
    """
    globs = Globs(book)
    files: list[SourceFile] = []
    refused: list[tuple[str, str]] = []
    for relative, entry in _walk(book.root, "", globs, refused):
        found = _source_file(book, relative, entry)
        if isinstance(found, str):
            refused.append((relative, found))
        else:
            files.append(found)
    files.sort(key=lambda file: file.source_file)
    return Discovery(tuple(files), tuple(sorted(refused)))


def read_bytes(file: SourceFile, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The file's content; no link is followed anywhere on its path, only regular files are read.

    Raises `PageRejected` when the file is gone, was swapped for a link or a pipe, can't be
    read, or is larger than `max_bytes`.
    """
    name = file.source_file
    try:
        descriptor = _open(file.path)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise PageRejected("is or lies behind a symbolic link", source_file=name) from error
        reason = error.strerror or "unreadable"
        raise PageRejected(f"can't be opened: {reason}", source_file=name) from error
    with os.fdopen(descriptor, "rb") as stream:
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise PageRejected("is not a regular file", source_file=name)
            data = stream.read(max_bytes + 1)
        except OSError as error:
            reason = error.strerror or "unreadable"
            raise PageRejected(f"can't be read: {reason}", source_file=name) from error
    if len(data) > max_bytes:
        raise PageRejected(f"is larger than {max_bytes:,} bytes", source_file=name)
    return data


def _open(path: Path) -> int:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_CLOEXEC", 0)
    if os.open not in os.supports_dir_fd:
        return os.open(path, flags)
    folder = os.open(path.anchor, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in path.parts[1:-1]:
            inner = os.open(part, flags | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(path.name, flags, dir_fd=folder)
    finally:
        os.close(folder)


def _walk(
    folder: Path, prefix: str, globs: Globs, refused: list[tuple[str, str]]
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Candidate files below a folder, as (relative posix name, entry)."""
    pending = [(str(folder), prefix)]
    while pending:
        path, prefix = pending.pop()
        try:
            with os.scandir(path) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
            names = frozenset(entry.name for entry in listed)
        except OSError as error:
            if not prefix:
                raise NotFound(f"the folder '{path}' can't be listed: {error.strerror}") from error
            refused.append((prefix.rstrip("/"), f"can't be listed: {error.strerror}"))
            continue
        for entry in listed:
            if entry.name.startswith((".", "_")):
                continue
            relative = prefix + entry.name
            if _UNSAFE.search(entry.name):
                refused.append(
                    (_printable(relative), "the name is not UTF-8 or has control characters")
                )
            elif entry.is_dir(follow_symlinks=False):
                if not _is_output(entry) and globs.may_hold_pages(relative):
                    pending.append((entry.path, relative + "/"))
            elif entry.is_symlink() and os.path.isdir(entry.path):
                refused.append((relative, "a symbolic link to a folder"))
            elif _looks_like_a_page(entry.name, names) and globs.matches(relative):
                yield relative, entry


def _source_file(book: Book, relative: str, entry: os.DirEntry[str]) -> SourceFile | str:
    path = book.root / relative
    try:
        if entry.is_symlink():
            path = path.resolve(strict=True)
            if not path.is_relative_to(book.root):
                return "a symbolic link that leaves the book's folder"
        status = path.stat(follow_symlinks=False)
    except (OSError, RuntimeError):
        return "a broken symbolic link" if entry.is_symlink() else "can't be read"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    return SourceFile(path, relative, status.st_size, status.st_mtime_ns)


def _looks_like_a_page(name: str, beside: frozenset[str]) -> bool:
    if name.endswith(INCLUDED):
        return name.removesuffix(".inc") in beside
    path = PurePosixPath(name.lower())
    if path.suffix not in SUFFIXES:
        return False
    return path.suffix != ".txt" or not path.stem.startswith(_NO_PAGES)


def _is_output(entry: os.DirEntry[str]) -> bool:
    if entry.name in _NEVER:
        return True
    return entry.name in _MAYBE_OUTPUT and os.path.exists(os.path.join(entry.path, "index.html"))


def _printable(name: str) -> str:
    return _UNSAFE.sub(lambda found: f"\\x{ord(found.group()) & 0xFF:02x}", name)
