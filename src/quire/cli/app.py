"""All commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from quire import __version__
from quire.cli import (
    ask,
    backup,
    bench,
    calibrate,
    chat,
    db,
    demo,
    doctor,
    index,
    ingest,
    jobs,
    keys,
    mcp,
    models,
    search,
    serve,
    sessions,
    worker,
)
from quire.cli import eval as evaluation

app = typer.Typer(
    name="quire",
    help="Answers questions about a book, only from its pages, with verbatim citations.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"quire {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Answers questions about a book, only from its pages, with verbatim citations."""


app.command()(demo.demo)
app.command()(ingest.ingest)
app.command()(ask.ask)
app.command()(chat.chat)
app.command()(search.search)
app.command()(serve.serve)
app.command()(worker.worker)
app.command()(mcp.mcp)
app.command()(doctor.doctor)
app.command()(backup.backup)
app.command()(backup.restore)
app.add_typer(keys.app, name="keys")
app.add_typer(jobs.app, name="jobs")
app.add_typer(sessions.app, name="sessions")
app.add_typer(db.app, name="db")
app.add_typer(index.app, name="index")
app.add_typer(models.app, name="models")
app.add_typer(evaluation.app, name="eval")
app.add_typer(calibrate.app, name="calibrate")
app.add_typer(bench.app, name="bench")
