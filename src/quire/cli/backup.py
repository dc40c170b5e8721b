"""`quire backup` and `quire restore`: everything in one folder, and back."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.terminal import HomeOption, JsonFlag, err, escape, out, print_json, run, settings_of

if TYPE_CHECKING:
    from quire.wiring.manifest import Progress


def backup(
    destination: Annotated[Path, typer.Argument(help="A folder that is new or empty.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the backup that is there.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Copy database and index into one folder, also while they are in use; no secrets."""
    from quire.wiring.backup import back_up

    settings = settings_of(as_json=as_json, home=home)
    with progress_bar("backup", shown=not as_json) as progress:
        made = run(back_up(settings, destination, force=force, progress=progress), as_json=as_json)
    if as_json:
        print_json({"path": str(destination), **asdict(made)})
        return
    size = sum((destination / name).stat().st_blocks * 512 for name in made.files)
    chunks = sum(book.chunks for book in made.books)
    out.print(
        f"{len(made.books)} books, {chunks} chunks, {sum(made.rows.values())} rows: "
        f"{size / 1e6:.1f} MB in {escape(str(destination))}"
    )
    for book in made.books:
        if not book.settled:
            err.print(
                f"[yellow]{escape(book.id)}: an ingest was under way; restoring finishes it[/]"
            )
    err.print("Keep QUIRE_KEY_PEPPER (or the file `pepper`) elsewhere: keys need it.")


def restore(
    source: Annotated[Path, typer.Argument(help="A folder that `quire backup` made.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the data that is there, all of it.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Check a backup and put it in place; the server must not be running."""
    from quire.wiring.restoring import restore as restore_backup

    settings = settings_of(as_json=as_json, home=home)
    with progress_bar("restore", shown=not as_json) as progress:
        done = run(
            restore_backup(settings, source, force=force, progress=progress), as_json=as_json
        )
    if as_json:
        print_json(
            {"rows": done.rows, "unsettled": list(done.unsettled), "backup": asdict(done.manifest)}
        )
        return
    out.print(
        f"{len(done.manifest.books)} books and {sum(done.rows.values())} rows restored, "
        f"as of {done.manifest.created_at[:19]} UTC"
    )
    for book_id in done.unsettled:
        err.print(f"[yellow]{escape(book_id)}: not complete; run: quire doctor --repair[/]")


@contextmanager
def progress_bar(title: str, *, shown: bool) -> Generator[Progress | None]:
    """A bar for each step, on standard error."""
    if not shown:
        yield None
        return
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    with Bars(console=err, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def progress(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(f"{title}: {step}", total=total)
            bars.update(tasks[step], completed=done, total=total)

        yield progress
