"""The secret that key digests are made with: given by the operator, or made once in a file."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from quire.errors import InvalidSetting

LEAST_LENGTH = 32


def given_pepper(text: str) -> bytes:
    """The operator's pepper; `InvalidSetting` if it is too short to be a secret."""
    if len(text) < LEAST_LENGTH:
        raise InvalidSetting(f"QUIRE_KEY_PEPPER: needs at least {LEAST_LENGTH} characters")
    return text.encode()


def pepper_file(path: Path) -> bytes:
    """The pepper in this file, which is made readable to its owner alone if it isn't there."""
    try:
        return _read(path) if path.exists() else _create(path)
    except OSError as error:
        raise InvalidSetting(
            f"QUIRE_HOME: can't keep the key pepper in {path}: {error.strerror}"
        ) from error


def _create(path: Path) -> bytes:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(32))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # fails if another process was first; its pepper counts then
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    return given_pepper(path.read_text(encoding="ascii").strip())
