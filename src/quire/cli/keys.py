"""`quire keys`: who may use the API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

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
from quire.errors import InvalidRequest

if TYPE_CHECKING:
    from quire.access import Keys
    from quire.settings import Settings

T = TypeVar("T")

app = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Option(help="What the key is for.")] = "key",
    kind: Annotated[
        str,
        typer.Option(
            help="secret: for servers; publishable: for the widget, bound to one book and to sites."
        ),
    ] = "secret",
    book: Annotated[str | None, typer.Option("--book", help="The only book it reaches.")] = None,
    origin: Annotated[
        list[str] | None, typer.Option(help="Site a publishable key works from; repeatable.")
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="chat, search, ingest or admin; repeatable. Default: chat and search."),
    ] = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Create a key and print it; it is not shown again."""
    from quire.api.schemas.authors import KeyRequest, NewKeyView

    settings = settings_of(as_json=as_json, home=home)
    try:
        wanted = KeyRequest.model_validate(
            {
                "name": name,
                "kind": kind,
                "book_id": book,
                "origins": origin or [],
                "scopes": scope or ["chat", "search"],
            }
        )
    except ValueError as error:
        fail(InvalidRequest(_first_line(error)), as_json=as_json)
    created = run(
        _with_keys(
            settings,
            lambda keys: keys.create(
                wanted.name,
                kind=wanted.kind,
                scopes=wanted.granted(),
                book_id=wanted.book_id,
                origins=wanted.origins,
            ),
        ),
        as_json=as_json,
    )
    if as_json:
        print_json(NewKeyView.of_created(created))
        return
    out.print(created.text, soft_wrap=True)
    err.print("[dim]Keep it: it is not shown again. Requests send it as Authorization: Bearer[/]")


@app.command("list")
def list_(home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """All keys, the newest first."""
    from quire.api.schemas.authors import KeyList, KeyView

    keys = run(
        _with_keys(settings_of(as_json=as_json, home=home), lambda keys: keys.all()),
        as_json=as_json,
    )
    if as_json:
        print_json(KeyList(keys=[KeyView.of(key) for key in keys]))
        return
    for key in keys:
        state = "[red]revoked[/]" if key.revoked_at else "[green]in force[/]"
        out.print(
            f"{key.prefix}  {state}  {escape(key.name)}  {', '.join(sorted(key.scopes))}  "
            f"[dim]{escape(key.book_id or 'all books')} {escape(' '.join(key.origins))}[/]"
        )


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(help="The key's id or prefix, as `list` shows it.")],
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """End a key; it stops on every replica within a second."""
    from quire.api.schemas.authors import KeyView

    revoked = run(
        _with_keys(settings_of(as_json=as_json, home=home), lambda keys: keys.revoke(key)),
        as_json=as_json,
    )
    if as_json:
        print_json(KeyView.of(revoked))
    else:
        out.print(f"{revoked.prefix} is revoked")


async def _with_keys(settings: Settings, work: Callable[[Keys], Awaitable[T]]) -> T:
    """Only the database is opened, so this works beside a running server."""
    from contextlib import AsyncExitStack

    from quire.wiring.opening import open_database, open_keys

    async with AsyncExitStack() as resources:
        database = await open_database(settings, resources)
        return await work(open_keys(settings, database))


def _first_line(error: ValueError) -> str:
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False)[0]
    return f"{first['loc'][0] if first['loc'] else 'key'}: {first['msg']}"
