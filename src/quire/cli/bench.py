"""`quire bench`: how fast it is, as ratios within one run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.demo import sample_book
from quire.cli.eval import progress_bar, write
from quire.cli.terminal import HomeOption, JsonFlag, err, escape, out, print_json, run, settings_of

if TYPE_CHECKING:
    from quire.evaluation.benchmarks.results import Benchmark, BenchmarkReport
    from quire.evaluation.scratch import Progress

app = typer.Typer(name="bench", help="Measure speed, memory and growth.", no_args_is_help=True)

CorpusOption = Annotated[
    Path | None,
    typer.Option("--corpus", help="A tree of pages or a corpus.jsonl; else the sample book."),
]
MarkdownOption = Annotated[
    Path | None, typer.Option("--markdown", help="Also write the tables here.")
]

Work = Callable[["Progress"], Awaitable["Benchmark"]]


@app.command()
def ingest(
    corpus: CorpusOption = None,
    markdown: MarkdownOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """A whole book, the same book again, and after one edit."""
    measure(["ingest"], corpus, home, markdown=markdown, as_json=as_json)


@app.command()
def search(
    corpus: CorpusOption = None,
    markdown: MarkdownOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Whole searches and their parts, alone and side by side."""
    measure(["search"], corpus, home, markdown=markdown, as_json=as_json)


@app.command()
def serve(
    corpus: CorpusOption = None,
    markdown: MarkdownOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """A real server process under readers who ask at once."""
    measure(["serve"], corpus, home, markdown=markdown, as_json=as_json)


@app.command()
def answer(
    corpus: CorpusOption = None,
    markdown: MarkdownOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Whole answers against the search under them."""
    measure(["answer"], corpus, home, markdown=markdown, as_json=as_json)


@app.command()
def embed(
    corpus: CorpusOption = None,
    markdown: MarkdownOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Texts a second, by precision and batch."""
    measure(["embed"], corpus, home, markdown=markdown, as_json=as_json)


@app.command("all")
def everything(
    corpus: CorpusOption = None,
    markdown: MarkdownOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """All of the above, one after the other."""
    names = ["embed", "ingest", "search", "answer", "serve"]
    measure(names, corpus, home, markdown=markdown, as_json=as_json)


@app.command()
def growth(
    sizes: Annotated[
        str, typer.Option(help="Numbers of chunks, smallest first.")
    ] = "1000,10000,100000",
    books: Annotated[
        int, typer.Option(min=1, max=1000, help="Books that the chunks are spread over.")
    ] = 1,
    chart: Annotated[Path | None, typer.Option(help="Also draw the curve here (SVG).")] = None,
    markdown: MarkdownOption = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """What storing and searching cost as a book grows (synthetic chunks)."""
    from quire.evaluation.benchmarks.growth import bench_growth

    settings = settings_of(as_json=as_json, home=home)
    numbers = [int(size) for size in sizes.split(",")]
    report = collect(
        {
            "growth": lambda progress: bench_growth(
                settings, numbers, books=books, progress=progress
            )
        },
        as_json,
    )
    if chart:
        from quire.evaluation.benchmarks.curves import growth_chart

        write(chart, growth_chart(report.benchmarks[0]))
    show(report, markdown=markdown, as_json=as_json)


def measure(
    names: list[str],
    corpus: Path | None,
    home: Path | None,
    *,
    markdown: Path | None,
    as_json: bool,
) -> None:
    """Run these benchmarks on one corpus and show them."""
    from quire.evaluation.benchmarks.answer import bench_answer
    from quire.evaluation.benchmarks.embed import bench_embed
    from quire.evaluation.benchmarks.ingest import bench_ingest
    from quire.evaluation.benchmarks.search import bench_search
    from quire.evaluation.benchmarks.serve import bench_serve

    settings = settings_of(as_json=as_json, home=home)
    path = corpus or sample_book()
    known: dict[str, Work] = {
        "embed": lambda progress: bench_embed(settings, path, progress=progress),
        "ingest": lambda progress: bench_ingest(settings, path, progress=progress),
        "search": lambda progress: bench_search(settings, path, progress=progress),
        "answer": lambda progress: bench_answer(settings, path, progress=progress),
        "serve": lambda progress: bench_serve(settings, path, progress=progress),
    }
    report = collect({name: known[name] for name in names}, as_json)
    show(report, markdown=markdown, as_json=as_json)


def collect(work: dict[str, Work], as_json: bool) -> BenchmarkReport:
    """Run the benchmarks in order, each with its own bar."""
    from quire.evaluation.benchmarks.machine import this_machine
    from quire.evaluation.benchmarks.results import BenchmarkReport

    machine = this_machine()

    async def all_of_them() -> list[Benchmark]:
        done: list[Benchmark] = []
        for name, bench in work.items():
            err.print(f"[dim]bench {name} …[/]")
            with progress_bar() as progress:
                done.append(await bench(progress))
        return done

    return BenchmarkReport(machine, run(all_of_them(), as_json=as_json))


def show(report: BenchmarkReport, *, markdown: Path | None, as_json: bool) -> None:
    """Print the tables (or the object), and write the Markdown if asked."""
    from rich.table import Table

    from quire.evaluation.benchmarks.results import figure, ratio_of

    if markdown:
        write(markdown, report.markdown())
    if as_json:
        print_json(report.as_json())
        return
    out.print(f"[dim]{escape(report.machine.line())}[/]")
    for benchmark in report.benchmarks:
        table = Table(
            title=f"{benchmark.name}: {escape(benchmark.subject)}", title_justify="left", box=None
        )
        table.add_column("what")
        table.add_column("value", justify="right")
        table.add_column("ratio", justify="right")
        for row in benchmark.rows:
            table.add_row(row.what, f"{figure(row.value)} {row.unit}", ratio_of(row))
        out.print(table)
