"""Copies of an embedded store's files: out of a store in use, and into one that is not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from quire.index.disk import READY, sync_file, sync_folder

COLLECTION: Final = "quire"
"""What the collection is called in a copy, whatever its name was."""

Progress = Callable[[int, int], None]
"""Called with the files copied so far and the files in all."""
_BLOCK: Final = 1 << 16


def copy_out(root: Path, collection: str, target: Path, progress: Progress | None = None) -> bool:
    """Copy the generation in use; False when there is none. The caller holds the gate still."""
    alias = root / f"{collection}.json"
    if not alias.exists():
        return False
    values: dict[str, Any] = json.loads(alias.read_text("utf-8"))
    generation = root / f"{collection}@{values['generation']}"
    target.mkdir(parents=True, exist_ok=True)
    shards = [path for path in sorted(generation.iterdir()) if (path / READY).exists()]
    (target / f"{COLLECTION}@1").mkdir()
    _copy(shards, target / f"{COLLECTION}@1", progress)
    values["generation"] = 1
    (target / f"{COLLECTION}.json").write_text(json.dumps(values, indent=2), "utf-8")
    return True


def copy_in(source: Path, root: Path, collection: str, progress: Progress | None = None) -> None:
    """Put a copy in the place of a store that nobody has open; the old one goes at the end."""
    values: dict[str, Any] = json.loads((source / f"{COLLECTION}.json").read_text("utf-8"))
    old = [path for path in root.glob(f"{collection}@*") if path.is_dir()]
    numbers = [int(path.name.rpartition("@")[2]) for path in old if path.name[-1].isdecimal()]
    number = max(numbers, default=0) + 1
    generation = root / f"{collection}@{number}"
    generation.mkdir(parents=True)
    _copy(sorted((source / f"{COLLECTION}@1").iterdir()), generation, progress)
    for path in generation.rglob("*"):
        sync_folder(path) if path.is_dir() else sync_file(path)
    sync_folder(generation)
    values["generation"] = number
    draft = root / f"{collection}.json.new"
    draft.write_text(json.dumps(values, indent=2), "utf-8")
    sync_file(draft)
    draft.replace(root / f"{collection}.json")
    sync_folder(root)
    for path in old:
        shutil.rmtree(path, ignore_errors=True)


def remove(root: Path, collection: str) -> None:
    """Empty a store that nobody has open."""
    (root / f"{collection}.json").unlink(missing_ok=True)
    for path in root.glob(f"{collection}@*"):
        shutil.rmtree(path, ignore_errors=True)


def _copy(folders: list[Path], target: Path, progress: Progress | None) -> None:
    """Copy the folders; one that vanishes meanwhile is a book whose last reader has left."""
    paths = [path for folder in folders for path in sorted((folder, *folder.rglob("*")))]
    for done, source in enumerate(paths, start=1):
        shard = source.relative_to(folders[0].parent).parts[0]
        destination = target / source.relative_to(folders[0].parent)
        try:
            if source.is_dir():
                destination.mkdir()
            else:
                _copy_file(source, destination)
        except FileNotFoundError:
            if (folders[0].parent / shard / READY).exists():
                raise
            shutil.rmtree(target / shard, ignore_errors=True)
        if progress is not None:
            progress(done, len(paths))


def _copy_file(source: Path, target: Path) -> None:
    """Copy without writing the holes: logs are allocated far beyond what they hold."""
    with source.open("rb") as reading, target.open("wb") as writing:
        while block := reading.read(_BLOCK):
            if block.count(0) == len(block):
                writing.seek(len(block), 1)
            else:
                writing.write(block)
        writing.truncate()
