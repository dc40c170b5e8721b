"""`quire jobs`: ingestion jobs, here or in workers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from quire.cli.terminal import (
    BookOption,
    HomeOption,
    JsonFlag,
    escape,
    out,
    print_json,
    run,
    settings_of,
)

if TYPE_CHECKING:
    from quire.ingestion.jobs import IngestionJob, Jobs
    from quire.settings import Settings

T = TypeVar("T")

app = typer.Typer(help="List, show and cancel ingestion jobs.", no_args_is_help=True)

JobArgument = Annotated[int, typer.Argument(min=1, help="The job's number.")]


@app.command("list")
def list_(
    book_id: BookOption = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Jobs, newest first."""
    from quire.api.schemas.ingestion import IngestionJobList, IngestionJobView

    settings = settings_of(as_json=as_json, home=home)
    found = run(
        _with_jobs(settings, lambda jobs: jobs.find(book_id=book_id, limit=limit)),
        as_json=as_json,
    )
    if as_json:
        print_json(IngestionJobList(jobs=[IngestionJobView.of(job) for job in found]))
        return
    for job in found:
        _show(job)


@app.command()
def show(job_id: JobArgument, home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """One job with its figures and the pages that failed."""
    settings = settings_of(as_json=as_json, home=home)
    _print(run(_with_jobs(settings, lambda jobs: jobs.get(job_id)), as_json=as_json), as_json)


@app.command()
def cancel(job_id: JobArgument, home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Ask a job to stop; what it has written stays and is consistent."""
    settings = settings_of(as_json=as_json, home=home)
    _print(run(_with_jobs(settings, lambda jobs: jobs.cancel(job_id)), as_json=as_json), as_json)


def _print(job: IngestionJob, as_json: bool) -> None:
    if as_json:
        from quire.api.schemas.ingestion import IngestionJobView

        print_json(IngestionJobView.of(job))
        return
    _show(job)
    for failure in job.errors:
        out.print(f"  [red]{escape(failure['source_file'])}[/] {escape(failure['message'])}")


def _show(job: IngestionJob) -> None:
    out.print(
        f"{job.job_id:5}  {job.status:9}  {job.mode:11}  {escape(job.book_id)}  "
        f"[dim]{job.files_processed} pages, {job.chunks_created} chunks written, "
        f"{job.files_failed} failed {escape(job.error_message or '')}[/]"
    )


async def _with_jobs(settings: Settings, work: Callable[[Jobs], Awaitable[T]]) -> T:
    """Only the database is opened, so this works beside a running server."""
    from contextlib import AsyncExitStack

    from quire.ingestion.jobs import Jobs
    from quire.wiring.opening import open_database

    async with AsyncExitStack() as resources:
        return await work(Jobs(await open_database(settings, resources)))
