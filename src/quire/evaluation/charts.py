"""Charts as SVG text, drawn by hand so that a report is one file and asks nobody for anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

INK, MUTED, GRID = "var(--ink)", "var(--muted)", "var(--grid)"
ACCENT, SECOND = "var(--accent)", "var(--second)"

_SCALE = ("#b3342d", "#d9713c", "#e8b04a", "#a9b95a", "#5a9e62", "#2a7f4f")


def interval_bars(
    values: Mapping[str, float],
    intervals: Mapping[str, tuple[float, float] | None],
    *,
    lower_is_better: Collection[str] = (),
) -> str:
    """Horizontal bars in 0–1 with their confidence intervals as whiskers."""
    left, width, row = 150, 380, 30
    height = row * len(values) + 26
    parts = [_vertical_grid(left, width, 6, height - 26)]
    for number, (name, value) in enumerate(values.items()):
        y = number * row + 12
        lower = name in lower_is_better
        color = SECOND if lower else ACCENT
        parts.append(_text(left - 10, y + 12, f"{name} ↓" if lower else name, anchor="end"))
        parts.append(_rect(left, y, max(1.0, value * width), 15, color, radius=2))
        interval = intervals.get(name)
        if interval:
            low, high = (left + min(1.0, max(0.0, edge)) * width for edge in interval)
            parts.append(_line(low, y + 7.5, high, y + 7.5, INK, 1.5))
            parts += [_line(x, y + 3.5, x, y + 11.5, INK, 1.5) for x in (low, high)]
        label = f"{value:.3f}"
        if interval:
            label += f"  [{interval[0]:.3f}, {interval[1]:.3f}]"
        parts.append(_text(left + width + 12, y + 12, label, size=12))
    return _svg(left + width + 170, height, "Measures with 95 % intervals", parts)


def reliability_diagram(bins: Sequence[Mapping[str, float]]) -> str:
    """What was said (x) against what was true (y); the area of a dot is its share."""
    plot = _Plot("confidence said", "share answerable")
    total = sum(b["n"] for b in bins) or 1
    parts = [*plot.frame(), _line(*plot.at(0, 0), *plot.at(1, 1), MUTED, 1, dash="4 4")]
    corners = [plot.at(b["predicted"], b["observed"]) for b in bins]
    parts.append(_path(corners, ACCENT))
    for (x, y), b in zip(corners, bins, strict=True):
        radius = 3 + 14 * (b["n"] / total) ** 0.5
        title = (
            f"{b['low']:.1f}–{b['high']:.1f}: said {b['predicted']:.2f}, "
            f"true {b['observed']:.2f}, {int(b['n'])} questions"
        )
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{ACCENT}" '
            f'fill-opacity=".55" stroke="{ACCENT}"><title>{escape(title)}</title></circle>'
        )
    return _svg(plot.width, plot.height, "Reliability of the confidence", parts)


def refusal_curve(
    points: Sequence[Mapping[str, float]], operating: tuple[float, float] | None
) -> str:
    """Precision against recall of refusing; the dot is where the product stands."""
    plot = _Plot(
        "recall: share of unanswerable refused", "precision: share of refusals that are right"
    )
    parts = plot.frame()
    parts.append(_path([plot.at(p["recall"], p["precision"]) for p in points], ACCENT))
    if operating:
        x, y = plot.at(*operating)
        title = f"as it answers now: recall {operating[0]:.2f}, precision {operating[1]:.2f}"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{SECOND}">'
            f"<title>{escape(title)}</title></circle>"
        )
        near_right = operating[0] > 0.7
        parts.append(
            _text(
                x + (-10 if near_right else 10),
                y + (18 if operating[1] > 0.5 else -8),
                "now",
                size=12,
                anchor="end" if near_right else "start",
            )
        )
    return _svg(plot.width, plot.height, "Precision and recall of refusal", parts)


def heat_map(rows: Mapping[str, Sequence[tuple[str, float, int]]]) -> str:
    """One row per section of the book, one tile per page: red never right, green always."""
    left, tile, gap, across = 270, 22, 3, 24
    parts: list[str] = []
    y = 6
    for section, pages in rows.items():
        shown = section if len(section) <= 38 else f"…{section[-37:]}"
        parts.append(_text(left - 12, y + 15, shown, anchor="end", size=12))
        for number, (page, share, n) in enumerate(pages):
            x = left + (number % across) * (tile + gap)
            top = y + (number // across) * (tile + gap)
            parts.append(
                f'<rect x="{x}" y="{top}" width="{tile}" height="{tile}" rx="3" '
                f'fill="{shade(share)}"><title>{escape(page)}: {share:.0%} of {n}</title></rect>'
            )
        y += ((len(pages) - 1) // across + 1) * (tile + gap) + 6
    return _svg(left + across * (tile + gap), y + 4, "What the book answers, page by page", parts)


def shade(share: float) -> str:
    """The colour of a share in 0–1."""
    return _SCALE[min(len(_SCALE) - 1, int(share * len(_SCALE)))]


def growth_lines(
    series: Mapping[str, Sequence[tuple[float, float]]], *, x: str, y: str, title: str
) -> str:
    """Lines over two logarithmic axes: what a cost becomes as a corpus grows."""
    import math

    points = [point for line in series.values() for point in line]
    logs = [(math.log10(a), math.log10(max(b, 1e-9))) for a, b in points]
    low_x, high_x = math.floor(min(a for a, _ in logs)), math.ceil(max(a for a, _ in logs))
    low_y, high_y = math.floor(min(b for _, b in logs)), math.ceil(max(b for _, b in logs))
    plot = _Plot(x, y, width=520, height=340)
    span_x, span_y = max(1, high_x - low_x), max(1, high_y - low_y)
    parts: list[str] = []
    for step in range(span_x + 1):
        at = plot.at(step / span_x, 0)
        parts.append(_line(*at, *plot.at(step / span_x, 1), GRID, 1))
        parts.append(_text(at[0], at[1] + 18, _power(low_x + step), anchor="middle", size=11))
    for step in range(span_y + 1):
        at = plot.at(0, step / span_y)
        parts.append(_line(*at, *plot.at(1, step / span_y), GRID, 1))
        parts.append(_text(at[0] - 8, at[1] + 4, _power(low_y + step), anchor="end", size=11))
    parts += plot.names()
    for number, (name, line) in enumerate(series.items()):
        color = (MUTED, ACCENT, SECOND, INK)[number % 4]
        corners = [
            plot.at((math.log10(a) - low_x) / span_x, (math.log10(max(b, 1e-9)) - low_y) / span_y)
            for a, b in line
        ]
        parts.append(_path(corners, color))
        parts += [
            f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="3.5" fill="{color}"/>' for cx, cy in corners
        ]
        parts.append(_rect(plot.left + 14, 16 + number * 18, 12, 3, color))
        parts.append(_text(plot.left + 32, 21 + number * 18, name, size=12))
    return _svg(plot.width, plot.height, title, parts)


class _Plot:
    """A square from (0, 0) to (1, 1) with named axes."""

    def __init__(self, x: str, y: str, *, width: int = 400, height: int = 360) -> None:
        self.width, self.height = width, height
        self.left, self.top, self.right, self.bottom = 64, 12, width - 16, height - 48
        self._names = (x, y)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the unit square in pixels."""
        return (
            self.left + x * (self.right - self.left),
            self.bottom - y * (self.bottom - self.top),
        )

    def frame(self) -> list[str]:
        """Grid, numbers and names of the axes."""
        parts: list[str] = []
        for step in range(6):
            share = step / 5
            x, y = self.at(share, 0)
            parts.append(_line(x, y, *self.at(share, 1), GRID, 1))
            parts.append(_text(x, y + 18, f"{share:.1f}", anchor="middle", size=11))
            x, y = self.at(0, share)
            parts.append(_line(x, y, *self.at(1, share), GRID, 1))
            parts.append(_text(x - 8, y + 4, f"{share:.1f}", anchor="end", size=11))
        return parts + self.names()

    def names(self) -> list[str]:
        """The names of the axes."""
        middle = (self.top + self.bottom) / 2
        return [
            _text((self.left + self.right) / 2, self.height - 8, self._names[0], anchor="middle"),
            f'<text x="14" y="{middle:.0f}" font-size="13" fill="{INK}" text-anchor="middle" '
            f'transform="rotate(-90 14 {middle:.0f})">{escape(self._names[1])}</text>',
        ]


def _power(exponent: int) -> str:
    names = {-1: "0.1", 0: "1", 1: "10", 2: "100", 3: "1k", 4: "10k", 5: "100k", 6: "1M"}
    return names.get(exponent, f"1e{exponent}")


def _vertical_grid(left: float, width: float, top: float, height: float) -> str:
    parts: list[str] = []
    for step in range(6):
        x = left + width * step / 5
        parts.append(_line(x, top, x, top + height, GRID, 1))
        parts.append(_text(x, top + height + 16, f"{step / 5:.1f}", anchor="middle", size=11))
    return "".join(parts)


def _path(corners: Sequence[tuple[float, float]], color: str) -> str:
    if not corners:
        return ""
    steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
    return f'<polyline points="{steps}" fill="none" stroke="{color}" stroke-width="2"/>'


def _line(
    x1: float, y1: float, x2: float, y2: float, color: str, width: float, *, dash: str = ""
) -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{color}" stroke-width="{width}"{dashed}/>'
    )


def _rect(x: float, y: float, width: float, height: float, color: str, *, radius: int = 0) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="{radius}" fill="{color}"/>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", size: int = 13) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{INK}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" '
        f'aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">{"".join(parts)}</svg>'
    )
