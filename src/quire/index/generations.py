"""The generations of an embedded collection on disk, and the alias that names the current one."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quire.errors import IndexUnavailable
from quire.index.disk import sync_folder
from quire.index.gate import WriteGate
from quire.index.payload import SCHEMA_VERSION
from quire.index.port import EmbedderInfo

if TYPE_CHECKING:
    from quire.index.generation import Generation
    from quire.index.store import Stores


class Generations:
    """Finds, makes and chooses generations; everything here blocks."""

    def __init__(self, root: Path, collection: str, *, stores: Stores, gate: WriteGate) -> None:
        from quire.index.memory import Memory

        self._root = root
        self._collection = collection
        self._stores = stores
        self.memory = Memory()
        self._gate = gate

    def load(self) -> tuple[Generation, int] | None:
        """The current generation with its schema, if there is one; others are removed."""
        alias = self._read_alias()
        current = None if alias is None else int(alias["generation"])
        for number in self._numbers():
            if number != current:
                shutil.rmtree(self._folder(number), ignore_errors=True)
        if alias is None or current is None:
            return None
        embedder = EmbedderInfo(alias["embedder"]["name"], alias["embedder"]["dimension"])
        return self._generation(current, embedder), int(alias["schema"])

    def new(self, embedder: EmbedderInfo) -> Generation:
        """An empty one beside the others."""
        return self._generation(max(self._numbers(), default=0) + 1, embedder)

    def make_current(self, generation: Generation) -> None:
        """Replace the alias in one step that survives a power cut."""
        embedder = generation.embedder
        alias = {
            "generation": int(generation.folder.name.rpartition("@")[2]),
            "schema": SCHEMA_VERSION,
            "embedder": {"name": embedder.name, "dimension": embedder.dimension},
        }
        draft = self._alias.with_suffix(".json.new")
        with draft.open("w", encoding="utf-8") as file:
            json.dump(alias, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._alias)
        sync_folder(self._root)

    def _generation(self, number: int, embedder: EmbedderInfo) -> Generation:
        from quire.index.generation import Generation

        return Generation(
            self._folder(number),
            embedder,
            stores=self._stores,
            memory=self.memory,
            gate=self._gate,
        )

    @property
    def _alias(self) -> Path:
        return self._root / f"{self._collection}.json"

    def _folder(self, number: int) -> Path:
        return self._root / f"{self._collection}@{number}"

    def _numbers(self) -> list[int]:
        """The generations on disk."""
        prefix = f"{self._collection}@"
        names = [path.name.removeprefix(prefix) for path in self._root.glob(f"{prefix}*")]
        return sorted(int(name) for name in names if name.isdecimal())

    def _read_alias(self) -> dict[str, Any] | None:
        try:
            return json.loads(self._alias.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise IndexUnavailable(f"{self._alias} is damaged: {error}") from error
