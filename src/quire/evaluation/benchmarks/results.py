"""The rows of a benchmark, and how they are shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from quire.evaluation.benchmarks.machine import Machine
from quire.evaluation.statistics import percentile


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure; `ratio` is it over the figure of `against` in the same run."""

    what: str
    value: float
    unit: str
    ratio: float | None = None
    against: str | None = None


@dataclass(slots=True)
class Benchmark:
    """The figures of one benchmark."""

    name: str
    subject: str
    rows: list[Row] = field(default_factory=list[Row])

    def add(self, what: str, value: float, unit: str, *, against: str | None = None) -> None:
        """Note a figure, and its ratio to an earlier one of the same unit."""
        base = next((row.value for row in self.rows if row.what == against), None)
        ratio = value / base if base else None
        self.rows.append(
            Row(what=what, value=value, unit=unit, ratio=ratio, against=against if ratio else None)
        )

    def add_latencies(
        self, what: str, seconds: Sequence[float], *, against: str | None = None
    ) -> None:
        """Note the median and the 99th percentile of times."""
        for share in (50, 99):
            value = percentile(seconds, share)
            if value is not None:
                base = f"{against} p{share}" if against else None
                self.add(f"{what} p{share}", value * 1000, "ms", against=base)


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """All benchmarks of a run with the machine they ran on."""

    machine: Machine
    benchmarks: list[Benchmark]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def markdown(self) -> str:
        """One table per benchmark."""
        lines = [f"Machine: {self.machine.line()}.", ""]
        for benchmark in self.benchmarks:
            lines += [
                f"### {benchmark.name}: {benchmark.subject}",
                "",
                "| what | value | ratio |",
                "|---|---:|---:|",
            ]
            lines += [
                f"| {row.what} | {figure(row.value)} {row.unit} | {ratio_of(row)} |"
                for row in benchmark.rows
            ]
            lines.append("")
        return "\n".join(lines)


class Stopwatch:
    """Times a block: `with Stopwatch() as watch: …` then `watch.seconds`.

    `watch.processor` is the time that the process computed meanwhile, on all cores.
    """

    seconds: float = 0.0
    processor: float = 0.0

    def __enter__(self) -> Stopwatch:
        self._before = time.process_time()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._start
        self.processor = time.process_time() - self._before


def figure(value: float) -> str:
    """Three significant digits, whole numbers from a hundred on."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def ratio_of(row: Row) -> str:
    """`2.1 × of …`, or nothing."""
    return f"{figure(row.ratio)} × {row.against}" if row.ratio is not None else ""
