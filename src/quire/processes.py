"""Messages between this process and one that it started: a length, then a pickle.

Both are this program, so a pickle is as safe as its memory.
"""

from __future__ import annotations

import pickle
import signal
import struct
import sys
from typing import Any, BinaryIO

LENGTH = struct.Struct("!Q")


def packed(message: object) -> bytes:
    """The message as it goes over a pipe."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


class Pipes:
    """Both ways to another process; every call blocks."""

    def __init__(self, reading: BinaryIO, writing: BinaryIO) -> None:
        self._reading = reading
        self._writing = writing

    def send(self, message: object) -> None:
        """Hand the message over."""
        self._writing.write(packed(message))
        self._writing.flush()

    def receive(self) -> Any:
        """The next message; raises `EOFError` when the other side is gone."""
        (length,) = LENGTH.unpack(self._exactly(LENGTH.size))
        return pickle.loads(self._exactly(length))

    def close(self) -> None:
        """Let the other side know that no more comes."""
        try:
            self._writing.close()
        finally:
            self._reading.close()

    def _exactly(self, size: int) -> bytes:
        data = self._reading.read(size)
        if len(data) < size:
            raise EOFError
        return data


def command(module: str, *arguments: str) -> list[str]:
    """What starts the module's `main` in another process."""
    return [sys.executable, "-P", "-c", f"from {module} import main; main()", *arguments]


def stand_by() -> Pipes:
    """In the other process: the way back to the one that started it.

    It ends when that one does, and not by a signal meant for both: a terminal's, or a service
    manager's, while answers are still being finished.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return Pipes(sys.stdin.buffer, sys.stdout.buffer)
