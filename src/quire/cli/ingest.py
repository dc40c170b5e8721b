"""`quire ingest`: a folder of pages into the index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.terminal import (
    HomeOption,
    JsonFlag,
    err,
    escape,
    out,
    print_json,
    run,
    settings_of,
)
from quire.models import IngestionMode

if TYPE_CHECKING:
    from quire.ingestion.jobs import IngestionJob
    from quire.ingestion.plan import Plan
    from quire.settings import Settings


def ingest(
    path: Annotated[Path, typer.Argument(help="The book's folder.")],
    book_id: Annotated[
        str | None, typer.Option("--book-id", "-b", help="Id of the book, if not its own.")
    ] = None,
    mode: Annotated[
        str,
        typer.Option(
            help="incremental: what changed; full: all again; recreate: a new collection beside "
            "the old one, then switch.",
        ),
    ] = "incremental",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be done.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Stay and ingest again whenever a page is saved.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Bring the index in line with a folder of pages; exit code 1 when a page failed."""
    settings = settings_of(as_json=as_json, home=home)
    chosen = mode_of(mode)
    if dry_run:
        show_plan(settings, path, book_id=book_id, mode=chosen, as_json=as_json)
        return
    job = ingest_book(settings, path, book_id=book_id, mode=chosen, as_json=as_json)
    if watch:
        watch_book(settings, path, book_id=book_id, as_json=as_json)
        return
    nothing = job.files_discovered == job.chunks_deleted == 0
    if nothing and not as_json:
        say_nothing_found(path)
    if job.status != "completed" or job.files_failed or nothing:
        raise typer.Exit(1)


def say_nothing_found(path: Path) -> None:
    """The folder has no page."""
    err.print(
        f"[yellow]no pages found in {escape(str(path))}[/]: "
        "Quire reads .md, .mdx, .rst, .ipynb and .txt"
    )


def mode_of(name: str) -> IngestionMode:
    """The mode of this name; anything else is a usage error."""
    if name not in ("incremental", "full", "recreate"):
        raise typer.BadParameter("must be incremental, full or recreate", param_hint="--mode")
    return name


def ingest_book(
    settings: Settings, path: Path, *, book_id: str | None, mode: IngestionMode, as_json: bool
) -> IngestionJob:
    """Ingest with a progress display on stderr and a summary on stdout."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[dim]{task.fields[rate]}[/]"),
        TimeElapsedColumn(),
    )

    async def work() -> IngestionJob:
        from quire.ingestion.progress import Progress as Moment
        from quire.wiring import Library

        async with Library.open(settings) as library:
            with Progress(*columns, console=err, transient=True, disable=as_json) as display:
                task = display.add_task("pages", total=None, rate="")

                def show(now: Moment) -> None:
                    eta = "" if now.eta_seconds is None else f", {now.eta_seconds:.0f} s left"
                    display.update(
                        task,
                        completed=now.files_done,
                        total=now.files_total,
                        rate=f"{now.chunks_done} chunks, {now.rate:.0f}/s{eta}",
                    )

                return await library.ingest(path, book_id=book_id, mode=mode, progress=show)

    job = run(work(), as_json=as_json)
    if as_json:
        from quire.api.schemas.ingestion import IngestionJobView

        print_json(IngestionJobView.of(job))
    else:
        show_job(job)
    return job


def watch_book(settings: Settings, path: Path, *, book_id: str | None, as_json: bool) -> None:
    """Ingest after every change, once the files have been quiet for a second; until Ctrl-C."""
    import time

    from quire.books import discover, load_book

    def look() -> frozenset[tuple[str, int, int]]:
        files = discover(load_book(path, book_id=book_id))
        return frozenset((file.source_file, file.size, file.mtime_ns) for file in files)

    err.print("[dim]watching; stop with Ctrl-C[/]")
    try:
        seen = look()
        while True:
            time.sleep(1.0)
            now = look()
            if now == seen:
                continue
            quiet = False
            while not quiet:
                time.sleep(1.0)
                later = look()
                quiet, now = later == now, later
            seen = now
            ingest_book(settings, path, book_id=book_id, mode="incremental", as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def show_job(job: IngestionJob) -> None:
    """A summary for people; failures with the line of the file."""
    if job.status != "completed":
        err.print(f"[bold red]{job.status}:[/] {escape(job.error_message or 'no reason given')}")
        return
    out.print(
        f"[bold]{escape(job.book_id)}[/]: {job.files_processed} pages ingested, "
        f"{job.files_skipped} unchanged or left out, {job.files_failed} failed; "
        f"{job.chunks_created} chunks written, {job.chunks_deleted} removed, "
        f"{job.embedded} embedded ({job.tokens} tokens) in {seconds(job)}"
    )
    for failure in job.errors:
        place = f"{failure['source_file']}:{failure['line'] or 1}"
        err.print(f"  [red]{escape(place)}[/] {escape(failure['message'])}")


def seconds(job: IngestionJob) -> str:
    """How long the job took."""
    if job.started_at is None or job.completed_at is None:
        return "?"
    return f"{(job.completed_at - job.started_at).total_seconds():.1f} s"


def show_plan(
    settings: Settings, path: Path, *, book_id: str | None, mode: IngestionMode, as_json: bool
) -> None:
    """What an ingest would do."""

    async def work() -> Plan:
        from quire.wiring import Library

        async with Library.open(settings) as library:
            return await library.plan(path, book_id=book_id, mode=mode)

    plan = run(work(), as_json=as_json)
    groups = {
        "new": [file.source_file for file in plan.new],
        "modified": [file.source_file for file in plan.modified],
        "moved": [f"{move.previous} → {move.file.source_file}" for move in plan.moved],
        "deleted": list(plan.deleted),
    }
    unchanged = [file.source_file for file in plan.unchanged]
    failing = {error.source_file: error.message for error in plan.rejected}
    if as_json:
        print_json({**groups, "unchanged": unchanged, "failing": failing})
    else:
        for name, entries in groups.items():
            for entry in entries:
                out.print(f"{name:9} {escape(entry)}")
        for name, reason in failing.items():
            err.print(f"[red]{'failing':9}[/] {escape(name)}: {escape(reason)}")
        counts = {**groups, "unchanged": unchanged, "failing": failing}
        out.print(", ".join(f"{len(entries)} {name}" for name, entries in counts.items()))
    nothing = plan.is_empty and not (unchanged or failing)
    if nothing and not as_json:
        say_nothing_found(path)
    if failing or nothing:
        raise typer.Exit(1)
