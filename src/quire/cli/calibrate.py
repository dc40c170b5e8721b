"""`quire calibrate`: fit the confidence to labelled questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.eval import progress_bar, write
from quire.cli.terminal import HomeOption, JsonFlag, escape, fail, out, print_json, run, settings_of
from quire.errors import InvalidRequest

if TYPE_CHECKING:
    from quire.evaluation.calibrating import Fitted, LabelledSet
    from quire.evaluation.fitting import Fitness

app = typer.Typer(
    name="calibrate",
    help="Fit the confidence to labelled questions.",
    invoke_without_command=True,
)


@app.callback()
def calibrate(
    corpus: Annotated[Path | None, typer.Option(help="The corpus of --questions.")] = None,
    questions: Annotated[
        list[Path] | None, typer.Option(help="Labelled questions on --corpus; repeatable.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="CORPUS=QUESTIONS; repeatable, also for one corpus."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the calibration.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Questions of each set.")] = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Fit the confidence to labelled questions, print ECE and AUROC, write a JSON file."""
    settings = settings_of(as_json=as_json, home=home)
    try:
        labelled = labelled_sets(corpus, questions or [], sets or [])
    except InvalidRequest as error:
        fail(error, as_json=as_json)
        return

    async def work() -> Fitted:
        from quire.evaluation.calibrating import calibrate as fit_sets

        with progress_bar() as progress:
            return await fit_sets(settings, labelled, limit=limit, progress=progress)

    fitted = run(work(), as_json=as_json)
    embedder = fitted.calibration.embedder
    path = output or settings.home / "calibrations" / f"{embedder}.json"
    write(path, fitted.calibration.to_json())
    if as_json:
        print_json({**fitted.as_json(), "output": str(path)})
    else:
        show(fitted)
        out.print(f"wrote {escape(str(path))}")


def labelled_sets(corpus: Path | None, questions: list[Path], sets: list[str]) -> list[LabelledSet]:
    """The sets named by both ways of naming them."""
    from quire.evaluation.calibrating import LabelledSet

    if questions and corpus is None:
        raise InvalidRequest("--questions needs --corpus; for several corpora use --set")
    found = [LabelledSet(corpus, file) for file in questions if corpus is not None]
    for pair in sets:
        name, equals, file = pair.partition("=")
        if not equals or not name or not file:
            raise InvalidRequest(f"--set {pair}: write CORPUS=QUESTIONS")
        found.append(LabelledSet(Path(name), Path(file)))
    if not found:
        raise InvalidRequest("say what to fit on: --corpus PATH --questions FILE, or --set")
    return found


def show(fitted: Fitted) -> None:
    """How good the fit is, and the levels it cuts at."""
    from rich.table import Table

    table = Table(box=None)
    for column in ("probability that …", "n", "AUROC", "ECE"):
        table.add_column(column, justify="left" if column.startswith("prob") else "right")

    def row(name: str, fitness: Fitness) -> None:
        values = (fitness.auroc, fitness.ece)
        shown = ("–" if value is None else f"{value:.3f}" for value in values)
        table.add_row(name, str(fitness.n), *shown)

    row("the passages answer (fitted sets)", fitted.answerability)
    row("the passages answer (held-out sets)", fitted.answerability_held_out)
    for name, fitness in fitted.sets.items():
        row(f"   {escape(name)}, held out", fitness)
    row("a passage is relevant", fitted.relevance)
    out.print(table)
    calibration = fitted.calibration
    out.print(
        f"levels: high ≥ {calibration.high:.3f}, medium ≥ {calibration.medium:.3f}, "
        f"low ≥ {calibration.low:.3f}, refused below"
    )
