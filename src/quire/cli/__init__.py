"""The `quire` command: one file per command, thin skins over the library."""

from __future__ import annotations

import os


def main() -> None:
    """Entry point of the console script."""
    # Before numpy is imported. Its products are small here: shared by the cores they take a tenth
    # more of the processor, and the embedder's and the reader's batches wait for theirs.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from quire.cli.app import app

    app()
