"""Looking at a book's files: which there are, and what bytes they hold."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass

from quire.books import Book, SourceFile, read_bytes, survey
from quire.errors import PageRejected
from quire.ingestion.plan import FileVersion, proves_unchanged, trusted_mtime
from quire.ingestion.state import IngestionRecord


@dataclass(frozen=True, slots=True)
class Scan:
    """A book's files as they are now."""

    versions: tuple[FileVersion, ...]
    sources: Mapping[str, SourceFile]
    unreadable: tuple[PageRejected, ...]
    """Files that are there but can't be read."""
    refused: tuple[tuple[str, str], ...]
    """What was not opened for safety, with the reason."""


def scan(book: Book, records: Mapping[str, IngestionRecord], *, trust_times: bool = True) -> Scan:
    """List and hash the files of a book; blocks on the disk.

    With `trust_times`, a file whose size and time prove it unchanged is not read.
    """
    found = survey(book)
    versions: list[FileVersion] = []
    unreadable: list[PageRejected] = []
    for file in found.files:
        record = records.get(file.source_file)
        try:
            if (
                trust_times
                and record is not None
                and proves_unchanged(record, size=file.size, mtime_ns=file.mtime_ns)
            ):
                versions.append(
                    FileVersion(file.source_file, record.file_hash, file.size, file.mtime_ns)
                )
            else:
                versions.append(read_version(file)[0])
        except PageRejected as error:
            unreadable.append(error)
    return Scan(
        versions=tuple(versions),
        sources={file.source_file: file for file in found.files},
        unreadable=tuple(unreadable),
        refused=found.refused,
    )


def read_version(file: SourceFile) -> tuple[FileVersion, bytes]:
    """A file's bytes, and the version they make.

    The time recorded is the one seen before the bytes were read: a write in between gives
    the file a newer one, and the next scan reads it again.
    """
    read_at = time.time_ns()
    data = read_bytes(file)
    version = FileVersion(
        source_file=file.source_file,
        file_hash=hashlib.sha256(data).hexdigest(),
        size=len(data),
        mtime_ns=trusted_mtime(file.mtime_ns, read_at_ns=read_at),
    )
    return version, data
