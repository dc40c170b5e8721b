"""What a run has to do: files as they are, compared with what was ingested before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quire.errors import PageRejected
from quire.ingestion.state import IngestionRecord
from quire.models import IngestionMode

MTIME_GRANULARITY_NS = 2_000_000_000
"""Two writes this close may carry one modification time (FAT has two seconds)."""


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A source file as it is now; `mtime_ns` is 0 when it proves nothing."""

    source_file: str
    file_hash: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Move:
    """The same bytes at another path."""

    file: FileVersion
    previous: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Every file that can be read is in one of `new`, `modified`, `moved`, `unchanged`."""

    new: tuple[FileVersion, ...] = ()
    modified: tuple[FileVersion, ...] = ()
    moved: tuple[Move, ...] = ()
    deleted: tuple[str, ...] = ()
    unchanged: tuple[FileVersion, ...] = ()
    rejected: tuple[PageRejected, ...] = ()
    """Files that would fail, where somebody looked for them."""

    @property
    def is_empty(self) -> bool:
        """Nothing to do."""
        return not (self.new or self.modified or self.moved or self.deleted)


def plan(
    current: Iterable[FileVersion],
    records: Mapping[str, IngestionRecord],
    *,
    settings_hash: str,
    embedder: str,
    mode: IngestionMode = "incremental",
    suspect: frozenset[str] = frozenset(),
) -> Plan:
    """Sort the files of a book by what must happen to them; the order of `current` is kept.

    A file counts as modified when its bytes, the settings it was split with or the embedder
    changed, when the mode is not `incremental`, or when it is named in `suspect`. A file is
    moved when its bytes are those of a record whose own file is gone; each such record is
    used once.
    """
    files = list(current)
    present = {file.source_file for file in files}
    deleted = [name for name in records if name not in present]
    homeless: dict[str, list[str]] = defaultdict(list)
    for name in reversed(deleted):
        homeless[records[name].file_hash].append(name)

    new: list[FileVersion] = []
    modified: list[FileVersion] = []
    moved: list[Move] = []
    unchanged: list[FileVersion] = []
    for file in files:
        record = records.get(file.source_file)
        if record is None:
            candidates = homeless.get(file.file_hash)
            if candidates:
                moved.append(Move(file, candidates.pop()))
            else:
                new.append(file)
        elif (
            mode == "incremental"
            and file.source_file not in suspect
            and record.file_hash == file.file_hash
            and record.settings_hash == settings_hash
            and record.embedder == embedder
        ):
            unchanged.append(file)
        else:
            modified.append(file)
    taken = {move.previous for move in moved}
    return Plan(
        new=tuple(new),
        modified=tuple(modified),
        moved=tuple(moved),
        deleted=tuple(name for name in deleted if name not in taken),
        unchanged=tuple(unchanged),
    )


def proves_unchanged(record: IngestionRecord, *, size: int, mtime_ns: int) -> bool:
    """Whether size and time alone show that the bytes are those of the record.

    They don't when the file was written so shortly before it was read that a second write
    could carry the same time: `trusted_mtime` recorded 0 then, and the file is hashed again.
    """
    return record.mtime_ns != 0 and record.mtime_ns == mtime_ns and record.size == size


def trusted_mtime(mtime_ns: int, *, read_at_ns: int) -> int:
    """The time to record for a file read at `read_at_ns`: 0 when it is too recent (or ahead)."""
    return mtime_ns if mtime_ns + MTIME_GRANULARITY_NS < read_at_ns else 0
