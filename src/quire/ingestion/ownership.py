"""Which source file each chunk belongs to, so that no file deletes another one's chunks."""

from __future__ import annotations

from collections.abc import Iterable


class Ownership:
    """Chunk id → source file; the newest claim holds.

    A lesson that is moved keeps its ids. Its new path claims them before its old path lets go,
    so that letting go removes nothing from the index.
    """

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self.released: set[str] = set()
        """Ids given up in this run: a file that wants one must write it anew, even if the
        index still shows it while the deletion is under way."""

    def claim(self, source_file: str, ids: Iterable[str]) -> None:
        """These ids are this file's from now on."""
        self._owners.update(dict.fromkeys(ids, source_file))

    def release(self, source_file: str, ids: Iterable[str]) -> list[str]:
        """Give up those ids that are still this file's; returns them: they may be deleted."""
        released = [chunk_id for chunk_id in ids if self._owners.get(chunk_id) == source_file]
        for chunk_id in released:
            del self._owners[chunk_id]
        self.released.update(released)
        return released

    def __contains__(self, chunk_id: object) -> bool:
        return chunk_id in self._owners
