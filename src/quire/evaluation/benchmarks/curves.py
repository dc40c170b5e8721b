"""A growth benchmark as a picture."""

from __future__ import annotations

from quire.evaluation.benchmarks.results import Benchmark
from quire.evaluation.charts import growth_lines

_COLORS = (
    "<style>svg{--ink:#1d2430;--muted:#667085;--grid:#dfe4ec;--accent:#3767c8;--second:#c8542f;"
    "font-family:system-ui,sans-serif;background:#fff}</style>"
)


def growth_chart(benchmark: Benchmark) -> str:
    """What storing and searching take (medians), both axes logarithmic, as an SVG file."""
    series: dict[str, list[tuple[float, float]]] = {}
    for row in benchmark.rows:
        name, search, rest = row.what.partition(" at ")
        size, _, share = rest.rpartition(" ")
        if search and share == "p50":
            series.setdefault(name, []).append((_number(size), row.value))
        elif row.unit == "1/s":
            size = row.what.rpartition(" ")[2]
            series.setdefault("storing a chunk", []).append((_number(size), 1000 / row.value))
    svg = growth_lines(series, x="chunks", y="milliseconds", title="As a book grows")
    head, end, body = svg.partition(">")
    return head + end + _COLORS + body


def _number(size: str) -> float:
    return float(size.replace(",", ""))
