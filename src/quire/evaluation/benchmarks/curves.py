"""A growth benchmark as a picture."""

from __future__ import annotations

from quire.evaluation.benchmarks.results import Benchmark
from quire.evaluation.charts import growth_lines

_COLORS = (
    "<style>svg{--ink:#1d2430;--muted:#667085;--grid:#dfe4ec;--accent:#3767c8;--second:#c8542f;"
    "font-family:system-ui,sans-serif;background:#fff}</style>"
)


def growth_chart(benchmark: Benchmark) -> str:
    """Search latency over the number of chunks, both axes logarithmic, as an SVG file."""
    series: dict[str, list[tuple[float, float]]] = {}
    for row in benchmark.rows:
        name, found, rest = row.what.partition(" at ")
        if found and row.unit == "ms":
            size, _, share = rest.rpartition(" ")
            series.setdefault(f"{name} {share}", []).append(
                (float(size.replace(",", "")), row.value)
            )
    svg = growth_lines(series, x="chunks", y="milliseconds", title="Search as a book grows")
    head, end, body = svg.partition(">")
    return head + end + _COLORS + body
