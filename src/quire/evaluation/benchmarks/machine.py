"""What a benchmark ran on."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

_PACKAGES = ("quire", "numpy", "onnxruntime", "qdrant-edge-py", "tokenizers")


@dataclass(frozen=True, slots=True)
class Machine:
    """Processor, memory, system and versions; `load` is that of the last minute at the start."""

    processor: str
    cores: int
    memory_gb: float
    system: str
    python: str
    load: float
    packages: dict[str, str]

    def line(self) -> str:
        """One line for a report."""
        packages = ", ".join(f"{name} {number}" for name, number in self.packages.items())
        return (
            f"{self.processor}, {self.cores} cores, {self.memory_gb:.0f} GB, {self.system}, "
            f"Python {self.python}; {packages}; load {self.load:.1f} at the start"
        )


def this_machine() -> Machine:
    """The machine this runs on; what can't be told is left empty."""
    return Machine(
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1,
        memory_gb=_memory_gb(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0,
        packages=_versions(),
    )


def peak_memory_mb() -> float:
    """The most memory this process has held so far."""
    return _status("self", "VmHWM") / 1024


def memory_mb(process: int, kind: Literal["VmRSS", "VmHWM"] = "VmRSS") -> float:
    """What a process and those it started hold now (`VmRSS`) or each held at most (`VmHWM`).

    0 where unknown.
    """
    numbered = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
    family = [process, *(each for each in numbered if _status(each, "PPid") == process)]
    return sum(_status(each, kind) for each in family) / 1024


def _status(process: int | str, word: str) -> int:
    """The number behind this word of a process's status."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(f"{word}:"):
                return int(line.split()[1])
    return 0


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_gb() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    except (ValueError, AttributeError):
        return 0.0


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
