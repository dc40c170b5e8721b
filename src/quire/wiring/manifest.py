"""What a backup says of itself: versions, books, and a checksum of every file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from quire.errors import InvalidRequest
from quire.settings import Settings, variable_of

FORMAT = 1
NAME = "manifest.json"

Progress = Callable[[str, int, int], None]
"""Called with the step's name, how much is done and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackedUpBook:
    """A book as the backup holds it."""

    id: str
    pages: int
    chunks: int
    settled: bool
    """False when an ingest was under way: the next one compares everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The content of `manifest.json`."""

    format: int
    quire: str
    created_at: str
    revision: str
    """Of the database's schema."""
    index_schema: int
    embedder: str | None
    dimension: int | None
    books: tuple[BackedUpBook, ...]
    rows: dict[str, int]
    settings: dict[str, Any]
    files: dict[str, dict[str, Any]]

    def write(self, folder: Path) -> None:
        """Store it beside the files it tells of."""
        (folder / NAME).write_text(json.dumps(asdict(self), indent=2) + "\n", "utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The manifest of a backup; `InvalidRequest` when this is none we understand."""
        try:
            values = json.loads((folder / NAME).read_text("utf-8"))
            books = tuple(BackedUpBook(**book) for book in values.pop("books"))
            found = cls(books=books, **values)
        except FileNotFoundError as error:
            raise InvalidRequest(f"{folder} is no backup: it has no {NAME}") from error
        except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
            raise InvalidRequest(f"{folder / NAME} is damaged: {error}") from error
        if found.format != FORMAT:
            raise InvalidRequest(
                f"the backup has format {found.format}, this version reads {FORMAT}"
            )
        return found

    def check_files(self, folder: Path, progress: Progress | None = None) -> None:
        """Compare every file with its checksum; `InvalidRequest` names the first that differs."""
        for done, (name, expected) in enumerate(self.files.items(), start=1):
            path = folder / name
            if not path.is_file():
                raise InvalidRequest(f"the backup is incomplete: {name} is missing")
            if checksum(path) != expected["sha256"]:
                raise InvalidRequest(f"the backup is damaged: {name} is not what was written")
            if progress is not None:
                progress("verify", done, len(self.files))


def described(folder: Path) -> dict[str, dict[str, Any]]:
    """Size and checksum of every file below the folder."""
    return {
        path.relative_to(folder).as_posix(): {
            "bytes": path.stat().st_size,
            "sha256": checksum(path),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (NAME, ".lock", ".writing")
    }


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def harmless(settings: Settings) -> dict[str, Any]:
    """The settings as environment variables, without secrets and without passwords in addresses."""
    found: dict[str, Any] = {}
    for name in Settings.model_fields:
        value = getattr(settings, name)
        if value is None or isinstance(value, SecretStr):
            continue
        if isinstance(value, str):
            value = without_password(value)
        elif isinstance(value, tuple):
            value = [str(item) for item in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        elif not isinstance(value, bool | int | float):
            value = str(value)
        found[variable_of(name)] = value
    return found


def without_password(address: str) -> str:
    """The address without user and password."""
    parts = urlsplit(address)
    if "@" not in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
