"""The `quire` command: one file per command, thin skins over the library."""

from __future__ import annotations


def main() -> None:
    """Entry point of the console script."""
    from quire.cli.app import app

    app()
