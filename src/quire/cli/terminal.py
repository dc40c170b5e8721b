"""What every command shares: consoles, JSON output, errors as one line, running async work."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console

from quire.errors import InputError, QuireError

if TYPE_CHECKING:
    from quire.settings import Settings

T = TypeVar("T")

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")
]
HomeOption = Annotated[
    Path | None,
    typer.Option("--home", help="Data folder (QUIRE_HOME).", show_default=False),
]
BookOption = Annotated[
    str | None,
    typer.Option("--book-id", "-b", help="Which book; not needed when there is only one."),
]


def settings_of(*, as_json: bool = False, **flags: Any) -> Settings:
    """The settings with this command's flags on top; a bad value ends the command."""
    from quire.settings import load_settings

    try:
        return load_settings(**flags)
    except QuireError as error:
        fail(error, as_json=as_json)


def run(work: Coroutine[Any, Any, T], *, as_json: bool = False) -> T:
    """Run a command's work; a `QuireError` becomes one line (or the error object) and an exit."""
    import asyncio

    try:
        return asyncio.run(work)
    except QuireError as error:
        fail(error, as_json=as_json)
    except KeyboardInterrupt:
        err.print("[yellow]interrupted[/]")
        raise typer.Exit(130) from None


def fail(error: QuireError, *, as_json: bool = False) -> NoReturn:
    """End the command: 2 when the caller must change something, 1 otherwise."""
    if as_json:
        from quire.api.errors import body_of

        print_json(body_of(error))
    else:
        # the API's field is an option here
        message = re.sub(r"\Abook_id:", "--book-id:", error.message)
        err.print(f"[bold red]error:[/] {escape(message)}")
    raise typer.Exit(2 if isinstance(error, InputError) else 1) from error


def print_json(value: Any) -> None:
    """One JSON object on stdout, exactly as the API would send it."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n")


def escape(text: str) -> str:
    """Text that Rich must not read as markup."""
    from rich.markup import escape as rich_escape

    return rich_escape(text)
