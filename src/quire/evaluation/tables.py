"""Runs, comparisons and verdicts as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from quire.evaluation.comparison import Comparison, MovedQuestion
from quire.evaluation.coverage import Coverage
from quire.evaluation.gate import Verdict
from quire.evaluation.runs import Number, Run


def run_table(run: Run) -> RenderableType:
    """The measures with their intervals, then the kinds of question."""
    table = Table(title=f"{run.kind}: {escape(run.corpus)}", title_justify="left", box=None)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("95 % interval", justify="right")
    for name, value in run.metrics.items():
        if value is None:
            continue
        interval = run.intervals.get(name)
        shown = f"{interval[0]:.3f} – {interval[1]:.3f}" if interval else ""
        table.add_row(name, number(value), shown)
    parts: list[RenderableType] = [table]
    if run.groups:
        parts += ["", group_table(run.groups)]
    parts += [f"[yellow]note:[/] {escape(note)}" for note in run.notes]
    return Group(*parts)


def group_table(groups: Mapping[str, Mapping[str, Number]]) -> Table:
    """One row per kind of question."""
    table = Table(box=None)
    table.add_column("kind")
    names = list(next(iter(groups.values())))
    for name in names:
        table.add_column(name, justify="right")
    for group, values in groups.items():
        table.add_row(escape(group), *(number(values.get(name)) for name in names))
    return table


def comparison_table(comparison: Comparison, *, shown: int = 15) -> RenderableType:
    """The measures side by side, then the questions that moved."""
    table = Table(box=None)
    for column, side in (("measure", "left"), ("before", "right"), ("after", "right")):
        table.add_column(column, justify="right" if side == "right" else "left")
    table.add_column("change", justify="right")
    for change in comparison.changes:
        if change.before is None and change.after is None:
            continue
        delta = ""
        if change.before is not None and change.after is not None:
            delta = f"{change.after - change.before:+.3f}"
        color = {True: "green", False: "red", None: "dim"}[change.better]
        table.add_row(
            change.name, number(change.before), number(change.after), f"[{color}]{delta}[/]"
        )
    parts: list[RenderableType] = [table, ""]
    if comparison.interval:
        low, high = comparison.interval
        parts.append(
            f"mean change of {comparison.leading}: 95 % interval {low:+.3f} to {high:+.3f}"
        )
    parts.append(
        f"{len(comparison.better)} questions better, {len(comparison.worse)} worse, "
        f"{comparison.unchanged} the same"
    )
    for title, moved in (("better", comparison.better), ("worse", comparison.worse)):
        if moved:
            parts += ["", f"[bold]{title}[/]", _moved_table(moved[:shown])]
    return Group(*parts)


def _moved_table(moved: list[MovedQuestion]) -> Table:
    table = Table(box=None, show_header=False)
    for question in moved:
        table.add_row(
            escape(question.id),
            escape(question.question[:90]),
            f"{question.before} → {question.after}",
        )
    return table


def verdict_table(verdict: Verdict) -> RenderableType:
    """The gated measures, and the questions that newly fail or pass."""
    table = Table(box=None)
    for column in ("measure", "now", "baseline", "limit", ""):
        table.add_column(column, justify="left" if column in ("measure", "") else "right")
    for metric in verdict.metrics:
        table.add_row(
            metric.name,
            number(metric.value),
            number(metric.baseline),
            number(metric.limit),
            "[green]ok[/]" if metric.passed else "[bold red]worse[/]",
        )
    right = sum(question.passed for question in verdict.questions)
    parts: list[RenderableType] = [
        table,
        f"{right} of {len(verdict.questions)} questions as expected",
    ]
    by_id = {question.id: question for question in verdict.questions}
    for color, title, ids in (
        ("red", "newly failing", verdict.newly_failing),
        ("green", "newly passing", verdict.newly_passing),
    ):
        for id in ids:
            question = by_id[id]
            parts.append(
                f"[{color}]{title}[/] {escape(id)}: {escape(question.question)}\n"
                f"    expected {escape(question.expected)}; {escape(question.outcome)}"
            )
    return Group(*parts)


def coverage_table(coverage: Coverage, *, shown: int = 15) -> RenderableType:
    """What an author should look at, the first of each kind."""
    parts: list[RenderableType] = [
        f"{coverage.pages} pages, {coverage.sections} sections, "
        f"{coverage.questions} questions derived from headings and definitions",
        f"{coverage.retrieved:.1%} of the sections are found by some question; "
        f"{coverage.own_recall:.1%} of the questions find their own section",
    ]
    lists: tuple[tuple[str, list[str]], ...] = (
        ("sections no question finds", coverage.never_retrieved),
        (
            "near-duplicates",
            [f"{p.first}  ≈  {p.second}  ({p.cosine:.3f})" for p in coverage.near_duplicates],
        ),
        (
            "broken links",
            [
                f"{link.source_file}:{link.line}  {link.target}  ({link.problem})"
                for link in coverage.broken_links
            ],
        ),
    )
    for title, lines in lists:
        parts += ["", f"[bold]{len(lines)} {title}[/]"]
        parts += [f"  {escape(line)}" for line in lines[:shown]]
        if len(lines) > shown:
            parts.append(f"  [dim]… and {len(lines) - shown} more (--json shows all)[/]")
    return Group(*parts)


def number(value: Number) -> str:
    """A measure as people read it."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
