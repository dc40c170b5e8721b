"""Messages between this process and one that it started: a length, then a pickle.

Both are this program, so a pickle is as safe as its memory. They go over a socket of their own:
whatever prints in the other process must not be taken for one.
"""

from __future__ import annotations

import pickle
import socket
import struct
import subprocess
import sys
from typing import Any, Final, TypedDict

LENGTH = struct.Struct("!Q")
_QUIET: Final = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
)
"""It ends when the process that started it does, and not by a signal meant for both: a terminal's,
or a service manager's, while answers are still being finished."""


class _How(TypedDict):
    stdin: int
    stdout: int
    process_group: int


STARTED: Final[_How] = {
    "stdin": subprocess.DEVNULL,
    "stdout": subprocess.DEVNULL,
    "process_group": 0,
}
"""How such a process is started; `pass_fds` comes with it."""


def command(module: str, descriptor: int, *arguments: str) -> list[str]:
    """What runs the module's `main` in another process, with its end of the socket."""
    flags = subprocess._args_from_interpreter_flags()  # pyright: ignore
    begin = f"{_QUIET}; from {module} import main; main()"
    return [sys.executable, *flags, "-P", "-c", begin, str(descriptor), *arguments]


def packed(message: object) -> bytes:
    """The message as it goes over the socket."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(data)) + data


class Line:
    """A socket to another process; every call blocks."""

    def __init__(self, end: socket.socket) -> None:
        with end:  # the two files keep it open
            self._reading = end.makefile("rb")
            self._writing = end.makefile("wb")

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


def line_home() -> Line:
    """In the other process: the line to the one that started it."""
    return Line(socket.socket(fileno=int(sys.argv[1])))
