"""`quire sessions`: stored conversations, and erasing them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from quire.cli.terminal import (
    HomeOption,
    JsonFlag,
    escape,
    out,
    print_json,
    run,
    settings_of,
)

if TYPE_CHECKING:
    from quire.conversations import Conversations
    from quire.settings import Settings

T = TypeVar("T")

app = typer.Typer(help="List and erase stored conversations.", no_args_is_help=True)

OwnerOption = Annotated[
    str,
    typer.Option(help="Whose: a key's id (for a visitor `key/visitor`), or `local` without keys."),
]


@app.command("list")
def list_(
    owner: OwnerOption = "local",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 50,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """An owner's conversations, the last active one first."""
    from quire.api.schemas.sessions import ThreadList, ThreadOverview

    threads = run(
        _with_conversations(
            settings_of(as_json=as_json, home=home),
            lambda conversations: conversations.threads(owner, limit=limit),
        ),
        as_json=as_json,
    )
    if as_json:
        print_json(ThreadList(sessions=[ThreadOverview.of(thread) for thread in threads]))
        return
    for thread in threads:
        moment = thread.updated_at.strftime("%Y-%m-%d %H:%M")
        out.print(f"{thread.id}  {moment}  {thread.exchanges:3}  {escape(thread.title)}")


@app.command()
def erase(
    session: Annotated[
        str | None, typer.Argument(help="One conversation; without it all of the owner's.")
    ] = None,
    owner: OwnerOption = "local",
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Erase one conversation or everything of an owner, with its ratings."""

    async def work(conversations: Conversations) -> int:
        if session is None:
            return await conversations.erase_owner(owner)
        await conversations.delete(owner, session)
        return 1

    settings = settings_of(as_json=as_json, home=home)
    erased = run(_with_conversations(settings, work), as_json=as_json)
    if as_json:
        print_json({"erased": erased})
    else:
        out.print(f"{erased} conversations erased")


async def _with_conversations(
    settings: Settings, work: Callable[[Conversations], Awaitable[T]]
) -> T:
    """Only the database is opened, so this works beside a running server."""
    from contextlib import AsyncExitStack

    from quire.conversations.sql import SqlConversations
    from quire.wiring.opening import open_database

    async with AsyncExitStack() as resources:
        return await work(SqlConversations(await open_database(settings, resources)))
