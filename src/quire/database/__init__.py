"""The relational store: SQLite by default, PostgreSQL by URL."""

from quire.database.engine import Database
from quire.database.schema import revision, upgrade

__all__ = ["Database", "revision", "upgrade"]
