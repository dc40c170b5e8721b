"""Disks that fill up and files that can't be read."""

from __future__ import annotations

import errno
import io
import os
import random
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def small_disk(folder: Path, megabytes: float) -> Generator[Path]:
    """A file system of this size mounted at `folder`; skips where mounting is not permitted."""
    folder.mkdir(parents=True, exist_ok=True)
    size = f"size={int(megabytes * 1024)}k"
    mount = ["mount", "-t", "tmpfs", "-o", size, "none", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("a full disk needs the `mount` command")
    if done.returncode:
        pytest.skip(f"a full disk needs the right to mount: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, *, leave: int = 0) -> Path:
    """Take all the room of a file system but `leave` bytes; returns the file to unlink."""
    blocker = folder / "blocker"
    free = os.statvfs(folder)
    with blocker.open("wb") as stream:
        left = max(0, free.f_bavail * free.f_frsize - leave)
        while left > 0:
            size = min(left, 1 << 20)
            try:
                stream.write(b"\0" * size)
                stream.flush()
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                break
            left -= size
    return blocker


class ReadErrors:
    """Files that fail with EIO at a seeded share of their reads, as a dying disk does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, seed: int, rate: float) -> None:
        self.failed = 0
        self._rng = random.Random(seed)
        self._rate = rate
        monkeypatch.setattr(os, "fdopen", self._open)

    def _open(self, descriptor: int, mode: str = "r") -> io.BufferedReader:
        assert mode == "rb", mode
        errors = self

        class File(io.FileIO):
            def readinto(self, buffer: Any, /) -> int | None:
                errors.fail_sometimes()
                return super().readinto(buffer)

            def readall(self) -> bytes:
                errors.fail_sometimes()
                return super().readall()

        return io.BufferedReader(File(descriptor))

    def fail_sometimes(self) -> None:
        if self._rng.random() < self._rate:
            self.failed += 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
