"""`quire eval`: how well a book is found and answered, and whether a change made it worse."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from quire.cli.terminal import (
    HomeOption,
    JsonFlag,
    err,
    escape,
    fail,
    out,
    print_json,
    run,
    settings_of,
)
from quire.errors import InvalidRequest, NotFound, QuireError

if TYPE_CHECKING:
    from quire.evaluation.coverage import Coverage
    from quire.evaluation.runs import Run
    from quire.evaluation.scratch import Progress
    from quire.settings import Settings

T = TypeVar("T")

app = typer.Typer(
    name="eval", help="Measure retrieval, answers and coverage.", no_args_is_help=True
)

CorpusOption = Annotated[
    Path, typer.Option("--corpus", help="A tree of pages, or a corpus.jsonl.", show_default=False)
]
QuestionsOption = Annotated[
    list[Path],
    typer.Option("--questions", help="Labelled questions (JSONL); repeatable.", show_default=False),
]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Take so many questions, the same ones every time.")
]
ReportOption = Annotated[
    Path | None, typer.Option("--html", help="Also write the run as an HTML page.")
]


class MatchLevel(StrEnum):
    """What counts as found."""

    page = "page"
    section = "section"
    passage = "passage"


class FollowUpText(StrEnum):
    """What is searched for a question with earlier turns."""

    resolved = "resolved"
    last = "last"
    standalone = "standalone"


class ContextSource(StrEnum):
    """Where answers may come from."""

    auto = "auto"
    book = "book"
    docs = "docs"


@app.command()
def retrieval(
    corpus: CorpusOption,
    questions: QuestionsOption,
    match: Annotated[
        MatchLevel, typer.Option(help="The right page, section, or passage with the answer.")
    ] = MatchLevel.page,
    follow_ups: Annotated[
        FollowUpText, typer.Option(help="What to search for a question with earlier turns.")
    ] = FollowUpText.resolved,
    limit: LimitOption = None,
    html: ReportOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Search every question; print nDCG, MRR and recall with intervals."""
    settings = settings_of(as_json=as_json, home=home)

    async def work() -> Run:
        from quire.evaluation.measuring import measure_retrieval

        with progress_bar() as progress:
            return await measure_retrieval(
                settings,
                corpus,
                questions,
                match=match.value,
                follow_ups=follow_ups.value,
                limit=limit,
                progress=progress,
            )

    finish(run(work(), as_json=as_json), settings, html=html, as_json=as_json)


@app.command()
def answers(
    corpus: CorpusOption,
    questions: QuestionsOption,
    model: Annotated[
        str | None, typer.Option(help="extractive, or the name of a language model.")
    ] = None,
    context: Annotated[
        ContextSource,
        typer.Option(help="The whole book, or the documents each question brings."),
    ] = ContextSource.auto,
    price: Annotated[
        float | None, typer.Option(min=0, help="Price of a million tokens, to report the cost.")
    ] = None,
    limit: LimitOption = None,
    html: ReportOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask every question; print how often it answers, refuses, and is right."""
    settings = settings_of(as_json=as_json, home=home, **model_flags(model))

    async def work() -> Run:
        from quire.evaluation.measuring import measure_answers

        with progress_bar() as progress:
            return await measure_answers(
                settings,
                corpus,
                questions,
                context=context.value,
                limit=limit,
                price=price,
                progress=progress,
            )

    finish(run(work(), as_json=as_json), settings, html=html, as_json=as_json)


@app.command()
def compare(
    before: Annotated[str, typer.Argument(help="A saved run: path, name, or part of it.")],
    after: Annotated[str, typer.Argument(help="The run to hold against it.")],
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Show what got better and what got worse, question by question."""
    from quire.evaluation.comparison import compare as compare_runs
    from quire.evaluation.runs import Runs
    from quire.evaluation.tables import comparison_table

    settings = settings_of(as_json=as_json, home=home)
    runs = Runs(settings.home)
    comparison = checked(lambda: compare_runs(runs.load(before), runs.load(after)), as_json=as_json)
    if as_json:
        print_json(comparison.as_json())
    else:
        out.print(comparison_table(comparison))


@app.command()
def runs(home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """List the saved runs, oldest first."""
    from quire.evaluation.runs import Runs

    saved = Runs(settings_of(as_json=as_json, home=home).home)
    if as_json:
        print_json({"folder": str(saved.folder), "runs": saved.names()})
        return
    for name in saved.names():
        out.print(escape(name))


@app.command()
def report(
    saved_run: Annotated[str, typer.Argument(help="A saved run: path, name, or part of it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page to write; NAME.html if absent.")
    ] = None,
    home: HomeOption = None,
) -> None:
    """Write a saved run as one HTML page."""
    from quire.evaluation.report import render
    from quire.evaluation.runs import Runs

    store = Runs(settings_of(home=home).home)
    chosen = checked(lambda: store.load(saved_run), as_json=False)
    path = output or Path(f"{chosen.name}.html")
    write(path, render(chosen))
    out.print(f"wrote {escape(str(path))}")


@app.command()
def gate(
    book: Annotated[Path, typer.Option("--book", help="The book's folder.", show_default=False)],
    questions: Annotated[
        Path | None,
        typer.Option(help="Questions; else questions.jsonl or quire.toml of the book."),
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option(help="Stored baseline; else gate-baseline.json beside them.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML here.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a Markdown summary here.")] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Store these results as the baseline.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(help="extractive, or the name of a language model.")
    ] = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Check a book's own questions; exit 1 when it got worse than its baseline."""
    from quire.evaluation import gate as gates
    from quire.evaluation import gate_reports
    from quire.evaluation.measuring import GateResults, measure_gate
    from quire.evaluation.questions import questions_file, read_questions
    from quire.evaluation.tables import verdict_table

    settings = settings_of(as_json=as_json, home=home, **model_flags(model))
    source = checked(lambda: questions or questions_file(book), as_json=as_json)
    asked = checked(lambda: read_questions(source), as_json=as_json)
    stored = baseline or source.parent / gates.BASELINE_NAME
    previous = checked(lambda: gates.read_baseline(stored), as_json=as_json)

    async def work() -> GateResults:
        with progress_bar() as progress:
            return await measure_gate(settings, book, asked, progress=progress)

    results = run(work(), as_json=as_json)
    if update_baseline:
        updated = results.baseline(previous)
        write(stored, updated.to_json())
        err.print(f"stored the baseline in {escape(str(stored))}")
        previous = updated
    verdict = results.judged(previous)
    if junit:
        write(junit, gate_reports.junit(verdict, book=book.name))
    if markdown:
        write(markdown, gate_reports.markdown(verdict, book=book.name))
    if as_json:
        print_json(verdict.as_json())
    else:
        out.print(verdict_table(verdict))
        if previous is None:
            err.print("no baseline yet: store this result with --update-baseline")
    if not verdict.passed:
        raise typer.Exit(1)


@app.command()
def coverage(
    corpus: CorpusOption,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Find sections nothing leads to, near-duplicates and broken links; needs no questions."""
    settings = settings_of(as_json=as_json, home=home)

    async def work() -> Coverage:
        from quire.evaluation.coverage import evaluate_coverage
        from quire.evaluation.scratch import indexed

        with progress_bar() as progress:
            async with indexed(corpus, settings, progress) as book:
                return await evaluate_coverage(book, progress=progress)

    found = run(work(), as_json=as_json)
    if as_json:
        print_json(found.as_json())
    else:
        from quire.evaluation.tables import coverage_table

        out.print(coverage_table(found))


@app.command()
def suite(
    thresholds: Annotated[Path, typer.Argument(help="A TOML file of checks with their limits.")],
    data: Annotated[Path, typer.Option("--data", help="The folder the checks' paths start from.")],
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure several corpora and hold each against its limits; exit 1 if one is broken."""
    from quire.evaluation.measuring import measure_check
    from quire.evaluation.runs import Runs
    from quire.evaluation.thresholds import read_checks

    settings = settings_of(as_json=as_json, home=home)
    checks = checked(lambda: read_checks(thresholds, data=data), as_json=as_json)

    async def work() -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for check in checks:
            if not check.available:
                err.print(f"[yellow]left out[/] {escape(check.name)}: {check.corpus} is not here")
                continue
            with progress_bar() as progress:
                done = await measure_check(settings, check, progress=progress)
            Runs(settings.home).save(done)
            problems = check.problems(done.metrics)
            gated = {name: done.metrics[name] for name in (*check.minimum, *check.maximum)}
            rows.append({"check": check.name, "problems": problems, **gated})
            if not as_json:
                shown = "  ".join(f"{name} {value:.3f}" for name, value in gated.items() if value)
                mark = "[red]worse[/]" if problems else "[green]ok[/]"
                out.print(f"{mark:>14}  {escape(check.name):28} {shown}")
        return rows

    rows = run(work(), as_json=as_json)
    problems = [problem for row in rows for problem in row["problems"]]
    if as_json:
        print_json({"passed": not problems, "checks": rows})
    for problem in problems:
        err.print(f"[bold red]worse:[/] {escape(problem)}")
    if problems:
        raise typer.Exit(1)


def finish(done: Run, settings: Settings, *, html: Path | None, as_json: bool) -> None:
    """Save a run, write its page if asked, and print it."""
    from quire.evaluation.report import render
    from quire.evaluation.runs import Runs
    from quire.evaluation.tables import run_table

    saved = Runs(settings.home).save(done)
    if html:
        write(html, render(done))
    if as_json:
        print_json({**done.summary(), "run": str(saved)})
        return
    out.print(run_table(done))
    out.print(f"[dim]saved as {escape(saved.stem)}[/]")


def write(path: Path, text: str) -> None:
    """Write a file, making its folder; a path that can't be written ends the command."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(InvalidRequest(f"can't write {path}: {error.strerror}"))


def model_flags(model: str | None) -> dict[str, str]:
    """`--model` as settings: our own model by its name, any other at the configured server."""
    if model is None:
        return {}
    if model == "extractive":
        return {"model": model}
    return {"model": "openai", "openai_model": model}


@contextmanager
def progress_bar() -> Generator[Progress]:
    """A bar on stderr for each stage; silent when stderr is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bars(
        *columns, TimeRemainingColumn(), console=err, transient=True, disable=not err.is_terminal
    ) as bars:
        stages: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in stages:
                stages[stage] = bars.add_task(stage, total=total or None)
            bars.update(stages[stage], completed=done, total=total or None)

        yield report


def checked(read: Callable[[], T], *, as_json: bool) -> T:
    """The value, or the end of the command when it can't be had."""
    try:
        return read()
    except QuireError as error:
        return fail(error, as_json=as_json)
    except OSError as error:
        return fail(NotFound(f"{error.filename}: {error.strerror}"), as_json=as_json)
