"""`quire db`: the database's schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from quire.cli.terminal import HomeOption, JsonFlag, out, print_json, run, settings_of

if TYPE_CHECKING:
    from quire.settings import Settings

app = typer.Typer(help="The database's schema.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """The database's schema."""


@app.command()
def upgrade(home: HomeOption = None, as_json: JsonFlag = False) -> None:
    """Bring the schema up to date; every other command does so by itself when it starts."""
    settings = settings_of(as_json=as_json, home=home)
    changed, revision = run(_upgrade(settings), as_json=as_json)
    if as_json:
        print_json({"changed": changed, "revision": revision})
    else:
        out.print(f"revision {revision}" + ("" if changed else ", nothing to do"))


async def _upgrade(settings: Settings) -> tuple[bool, str | None]:
    from quire.database import Database, revision, upgrade
    from quire.wiring.opening import make_home

    make_home(settings)
    database = Database(settings.database_address)
    try:
        return await upgrade(database), await revision(database)
    finally:
        await database.close()
