"""How far a run has come, and what it did."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from quire.errors import PageRejected


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run. Totals of chunks are estimated from the bytes read so far."""

    files_done: int
    files_total: int
    chunks_done: int
    chunks_total: int
    embedded: int
    rate: float
    """Chunks per second."""
    eta_seconds: float | None
    """None while nothing is known yet."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class FileError:
    """Why one file was left out; `line` is 1-based."""

    source_file: str
    message: str
    line: int | None = None
    kept_chunks: int = 0
    """Chunks of an earlier version that readers still find."""

    @classmethod
    def of(cls, error: PageRejected, *, kept_chunks: int = 0) -> FileError:
        """The error with, if there is one, the version that stays."""
        plain = cls(error.source_file, error.message, error.line)
        return plain.keeping(kept_chunks) if kept_chunks else plain

    def keeping(self, chunks: int) -> FileError:
        """Say that an earlier version of so many chunks stays."""
        message = f"{self.message}; its last good version stays ({chunks} chunks)"
        return replace(self, message=message, kept_chunks=chunks)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(slots=True)
class Report:
    """What a run did: `files_processed + files_skipped + files_failed == files_discovered`."""

    files_discovered: int = 0
    files_processed: int = 0
    files_skipped: int = 0
    """Unchanged files, and pages that are not to be indexed (drafts)."""
    files_failed: int = 0
    files_deleted: int = 0
    chunks_created: int = 0
    chunks_updated: int = 0
    chunks_deleted: int = 0
    embedded: int = 0
    tokens: int = 0
    """Of what was embedded: the cost."""
    errors: list[FileError] = field(default_factory=list[FileError])
    refused: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Files that were not opened for safety (links out of the book, …), with the reason."""
    duration_seconds: float = 0.0


class Meter:
    """Counts along a run and tells a callback."""

    def __init__(self, report: Report, callback: ProgressCallback | None) -> None:
        self.report = report
        self._callback = callback
        self._started = time.monotonic()
        self._files_total = 0
        self._files_done = 0
        self._bytes_total = 0
        self._bytes_read = 0
        self._bytes_done = 0
        self._chunks_read = 0
        self._chunks_done = 0

    def expect(self, *, files: int, size: int) -> None:
        """Set what is ahead, in files and bytes."""
        self._files_total, self._bytes_total = files, size

    def read(self, *, size: int, chunks: int) -> None:
        """A file was split."""
        self._bytes_read += size
        self._chunks_read += chunks

    def done(self, *, files: int, size: int, chunks: int) -> None:
        """Files were recorded (or failed)."""
        self._files_done += files
        self._bytes_done += size
        self._chunks_done += chunks
        self.tell()

    def tell(self) -> None:
        """Call back with where we are."""
        if self._callback:
            self._callback(self.now())

    def now(self) -> Progress:
        """Where we are."""
        elapsed = max(time.monotonic() - self._started, 1e-6)
        left = self._bytes_total - self._bytes_done
        eta = elapsed * left / self._bytes_done if self._bytes_done else None
        scale = self._bytes_total / self._bytes_read if self._bytes_read else 0.0
        return Progress(
            files_done=self._files_done,
            files_total=self._files_total,
            chunks_done=self._chunks_done,
            chunks_total=max(round(self._chunks_read * scale), self._chunks_done),
            embedded=self.report.embedded,
            rate=self._chunks_done / elapsed,
            eta_seconds=0.0 if left <= 0 else eta,
        )

    def finish(self) -> Report:
        """Stop the clock."""
        self.report.duration_seconds = time.monotonic() - self._started
        return self.report
