"""A gate's verdict for machines and for pull requests: JUnit XML and Markdown."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from quire.evaluation.gate import GatedMetric, Verdict

_CONTROL = {code: None for code in range(32) if code not in (9, 10, 13)}


def junit(verdict: Verdict, *, book: str) -> str:
    """JUnit XML: one suite for the measures, which decide, and one for the questions.

    A question that newly fails is a failure only when the gate fails; within the tolerance
    it is skipped with a message, like a question that never passed.
    """
    root = Element("testsuites", name=f"quire eval gate: {_xml(book)}")
    _suite(
        root,
        "metrics",
        [
            (metric.name, None if metric.passed else ("failure", describe(metric)))
            for metric in verdict.metrics
        ],
    )
    fallen = set(verdict.newly_failing)
    cases: list[tuple[str, tuple[str, str] | None]] = []
    for question in verdict.questions:
        problem = None
        if not question.passed:
            text = f"expected {question.expected}; {question.outcome}"
            newly = question.id in fallen
            kind = "failure" if newly and not verdict.passed else "skipped"
            problem = (kind, text if newly else f"not passing yet: {text}")
        cases.append((f"{question.id}: {question.question}", problem))
    _suite(root, "questions", cases)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, name: str, cases: list[tuple[str, tuple[str, str] | None]]) -> None:
    kinds = [problem[0] for _, problem in cases if problem]
    suite = SubElement(
        root,
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=str(kinds.count("failure")),
        skipped=str(kinds.count("skipped")),
        errors="0",
    )
    for title, problem in cases:
        case = SubElement(suite, "testcase", classname=f"quire.{name}", name=_xml(title))
        if problem:
            SubElement(case, problem[0], message=_xml(problem[1]))


def markdown(verdict: Verdict, *, book: str) -> str:
    """A comment for a pull request: the measures, then the questions that changed or fail."""
    state = "passed" if verdict.passed else "**failed**"
    right = sum(question.passed for question in verdict.questions)
    lines = [
        f"## Quire gate: {_cell(book)}: {state}",
        "",
        f"{right} of {len(verdict.questions)} questions as expected"
        + ("." if verdict.has_baseline else "; no baseline stored yet."),
        "",
        "| measure | now | baseline | limit | |",
        "|---|---:|---:|---:|---|",
    ]
    for metric in verdict.metrics:
        mark = "✓" if metric.passed else "✗ worse"
        lines.append(
            f"| {metric.name} | {metric.value:.3f} | {_number(metric.baseline)} "
            f"| {_number(metric.limit)} | {mark} |"
        )
    by_id = {question.id: question for question in verdict.questions}
    for title, ids in (
        ("Newly failing", verdict.newly_failing),
        ("Newly passing", verdict.newly_passing),
    ):
        if ids:
            lines += ["", f"### {title}", "", "| question | expected | outcome |", "|---|---|---|"]
            lines += [
                f"| {_cell(q.question)} | {_cell(q.expected)} | {_cell(q.outcome)} |"
                for q in (by_id[id] for id in ids)
            ]
    failing = [q for q in verdict.questions if not q.passed]
    if failing:
        lines += ["", f"<details><summary>All {len(failing)} failing questions</summary>", ""]
        lines += ["| id | question | expected | outcome |", "|---|---|---|---|"]
        lines += [
            f"| {_cell(q.id)} | {_cell(q.question)} | {_cell(q.expected)} | {_cell(q.outcome)} |"
            for q in failing
        ]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def describe(metric: GatedMetric) -> str:
    """A measure that failed, in one line."""
    return (
        f"{metric.name} is {metric.value:.3f}, the limit is {_number(metric.limit)} "
        f"(baseline {_number(metric.baseline)})"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _xml(text: str) -> str:
    return text.translate(_CONTROL)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
