"""`quire index`: the vector store."""

from __future__ import annotations

from typing import Annotated

import typer

from quire.cli.terminal import HomeOption, JsonFlag, err, escape, out, print_json, run, settings_of

app = typer.Typer(help="The vector store.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """The vector store."""


@app.command()
def copy(
    book_ids: Annotated[
        list[str] | None,
        typer.Option("--book-id", "-b", help="Which book; repeatable. All if left out."),
    ] = None,
    from_server: Annotated[
        bool, typer.Option("--from-server", help="From the server into the data folder.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Copy books with their vectors from the data folder to the Qdrant server of QDRANT_URL.

    A book that is there becomes equal to the copied one, without a moment in which readers
    miss a page. Cut short, it can simply be run again.
    """
    from quire.wiring.moving import copy_index

    settings = settings_of(as_json=as_json, home=home)

    def told(book_id: str, done: int, total: int) -> None:
        if err.is_terminal:
            err.print(f"{escape(book_id)}: {done} of {total} chunks", end="\r")

    copied = run(
        copy_index(settings, book_ids or (), to_server=not from_server, progress=told),
        as_json=as_json,
    )
    if as_json:
        print_json({"books": copied})
        return
    if not copied:
        out.print("there are no books to copy")
    for book_id, chunks in copied.items():
        out.print(f"{escape(book_id)}: {chunks} chunks copied")
