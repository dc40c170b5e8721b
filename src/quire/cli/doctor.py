"""`quire doctor`: what works, what doesn't, and how to mend it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from quire.cli.terminal import HomeOption, JsonFlag, escape, out, print_json, run, settings_of

if TYPE_CHECKING:
    from quire.wiring.diagnosis import Check


def doctor(
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Mend every difference between files, database and index first."
        ),
    ] = False,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Check settings, model, index, database and disk; one line each, with the fix."""
    settings = settings_of(as_json=as_json, home=home)

    async def work() -> list[Check]:
        from quire.wiring.diagnosis import diagnose

        return await diagnose(settings, repair=repair)

    checks = run(work(), as_json=as_json)
    ok = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": ok, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            mark = "[green]ok  [/]" if check.ok else "[red]fail[/]"
            out.print(f"{mark} {check.name:12} {escape(check.message)}")
            if check.fix:
                out.print(f"     {'':12} [yellow]fix: {escape(check.fix)}[/]")
    if not ok:
        raise typer.Exit(1)
