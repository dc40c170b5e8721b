"""`quire demo`: the sample book, ingested and served."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from quire.cli.ingest import ingest_book
from quire.cli.serve import listen
from quire.cli.terminal import HomeOption, fail, out, settings_of
from quire.errors import NotFound


def demo(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    home: HomeOption = None,
) -> None:
    """Ingest the sample book and serve it."""
    settings = settings_of(home=home)
    ingest_book(settings, sample_book(), book_id=None, mode="incremental", as_json=False)
    out.print("Try: [bold]How do ROS 2 nodes communicate?[/]")
    listen(settings, "127.0.0.1", port)


def sample_book() -> Path:
    """The sample book: inside an installed package, or beside the sources."""
    spec = find_spec("quire")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    for candidate in (
        package / "examples" / "physical-ai",
        package.parents[1] / "examples" / "physical-ai",
    ):
        if (candidate / "quire.toml").is_file():
            return candidate
    fail(NotFound("the sample book is not part of this installation; use quire ingest PATH"))
