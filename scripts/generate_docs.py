"""Writes docs/settings.md and docs/cli.md from the code; `--check` fails if they are stale."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import typer.main
from pydantic_core import PydanticUndefined

from quire.cli.app import app
from quire.settings import Settings

DOCS = Path(__file__).parent.parent / "docs"
NOTE = "<!-- made by `make docs`; edits here are lost -->\n\n"


def settings_page() -> str:
    """A table of all settings."""
    lines = [
        NOTE + "# Settings\n",
        "Every setting is an environment variable, or a line of a `.env` file in the working",
        "folder. A bad value stops the start with one line that names the variable.\n",
        "| variable | default | allowed | what it does |",
        "|---|---|---|---|",
    ]
    for field in Settings.model_fields.values():
        if field.default is not PydanticUndefined:
            default = "" if field.default is None else f"`{field.default}`"
        else:
            default = "`~/.quire`"
        allowed = _allowed(field.annotation, field.metadata)
        lines.append(
            f"| `{field.validation_alias}` | {default} | {allowed} | {field.description} |"
        )
    return "\n".join(lines) + "\n"


def _allowed(annotation: Any, metadata: list[Any]) -> str:
    values = getattr(annotation, "__args__", ())
    if values and all(isinstance(v, str) for v in values):
        return ", ".join(f"`{v}`" for v in values)
    bounds = {
        name: getattr(m, name) for m in metadata for name in ("gt", "ge", "le") if hasattr(m, name)
    }
    low = bounds.get("ge", bounds.get("gt"))
    high = bounds.get("le")
    if low is None and high is None:
        return ""
    return f"{'' if low is None else low} – {'' if high is None else high}".strip()


def cli_page() -> str:
    """The help of every command."""
    parts = [NOTE + "# Command line\n"]

    def describe(command: click.Command, path: list[str]) -> None:
        context = click.Context(command, info_name=" ".join(path))
        parts.append(f"{'#' * min(4, len(path) + 1)} `{' '.join(path)}`\n")
        parts.append(f"{(command.help or '').strip()}\n")
        rows = [_parameter(p, context) for p in command.params if p.name != "help"]
        if rows:
            parts.append("\n".join(["| option | default | meaning |", "|---|---|---|", *rows, ""]))
        for name, child in sorted(getattr(command, "commands", {}).items()):
            describe(child, [*path, name])

    describe(typer.main.get_command(app), ["quire"])
    return "\n".join(parts)


def _parameter(parameter: click.Parameter, context: click.Context) -> str:
    if parameter.param_type_name == "argument":
        name = f"`{(parameter.name or '').upper()}`"
        text = getattr(parameter, "help", None) or ""
        return f"| {name} | | {text} |"
    name = ", ".join(f"`{opt}`" for opt in [*parameter.opts, *parameter.secondary_opts])
    default = parameter.get_default(context)
    shown = "" if default is None or default is False or callable(default) else f"`{default}`"
    return f"| {name} | {shown} | {getattr(parameter, 'help', '') or ''} |"


def main() -> int:
    """Write or check both pages."""
    pages = {"settings.md": settings_page(), "cli.md": cli_page()}
    if "--check" in sys.argv:
        stale = [
            name
            for name, text in pages.items()
            if not (DOCS / name).is_file() or (DOCS / name).read_text(encoding="utf-8") != text
        ]
        for name in stale:
            print(f"docs/{name} is out of date: run `make docs`")
        return 1 if stale else 0
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
