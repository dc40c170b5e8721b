from __future__ import annotations

import os
import subprocess
import sys

import pytest

from quire.evaluation.benchmarks.curves import growth_chart
from quire.evaluation.benchmarks.machine import memory_mb, peak_memory_mb, this_machine
from quire.evaluation.benchmarks.results import Benchmark, BenchmarkReport, Stopwatch, figure


def test_a_figure_is_held_against_an_earlier_one_of_the_same_run() -> None:
    benchmark = Benchmark("ingest", "book")
    benchmark.add("whole book", 10.0, "s")
    benchmark.add("again", 0.5, "s", against="whole book")
    benchmark.add("alone", 1.0, "s", against="not measured")
    assert [row.ratio for row in benchmark.rows] == [None, 0.05, None]


def test_latencies_are_told_in_milliseconds_with_their_tail() -> None:
    benchmark = Benchmark("search", "book")
    benchmark.add_latencies("search", [0.001] * 98 + [0.1, 0.1])
    assert [(row.what, round(row.value)) for row in benchmark.rows] == [
        ("search p50", 1),
        ("search p99", 100),
    ]


def test_markdown_names_the_machine_and_the_ratios() -> None:
    benchmark = Benchmark("ingest", "book")
    benchmark.add("whole book", 10.0, "s")
    benchmark.add("again", 0.5, "s", against="whole book")
    text = BenchmarkReport(this_machine(), [benchmark]).markdown()
    assert text.startswith("Machine: ")
    assert "| again | 0.5 s | 0.05 × whole book |" in text


def test_growth_is_drawn_from_the_medians_and_the_rate_of_storing() -> None:
    benchmark = Benchmark("growth", "synthetic")
    for size, value in ((1_000, 0.001), (100_000, 0.01)):
        benchmark.add(f"stored a second up to {size:,}", 2_000.0, "1/s")
        benchmark.add(f"disk at {size:,}", 1.0, "MB")
        benchmark.add_latencies(f"hybrid search at {size:,}", [value])
    svg = growth_chart(benchmark)
    assert svg.count("<polyline") == 2
    assert "storing a chunk" in svg
    assert ">0.1<" in svg
    assert "100k" in svg


@pytest.mark.parametrize(
    ("value", "text"), [(12_345.6, "12,346"), (3.14159, "3.14"), (0.00123, "0.00123")]
)
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert figure(value) == text


def test_the_machine_is_described() -> None:
    machine = this_machine()
    assert machine.cores >= 1
    assert machine.python in machine.line()
    assert peak_memory_mb() >= 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_a_process_counts_those_it_started() -> None:
    alone = memory_mb(os.getpid())
    hold = "import sys; held = bytearray(80_000_000); print(flush=True); sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    together = memory_mb(os.getpid())
    child.communicate()
    assert together - alone > 76


def test_a_stopwatch_measures_a_block() -> None:
    with Stopwatch() as watch:
        pass
    assert 0 <= watch.seconds < 1
