"""All tables as JSON lines, and back: the same file for SQLite and PostgreSQL.

A dump is one moment of the database, whatever is written meanwhile: it is read in one
transaction (SQLite: a reader of the log; PostgreSQL: repeatable read).
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Table, delete, func, insert, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from quire.database.columns import UtcDateTime
from quire.database.engine import Database
from quire.database.tables import Base

_ROWS = 500  # per statement

Row = dict[str, Any]
Change = Callable[[str, Row], Row]
"""Called with the table's name and a row; returns the row to write."""


def tables() -> Sequence[Table]:
    """Every table, those that others refer to first."""
    return Base.metadata.sorted_tables


async def dump(database: Database, folder: Path, change: Change | None = None) -> dict[str, int]:
    """Write `table.jsonl` for every table; returns how many rows each has."""
    counts: dict[str, int] = {}
    async with database.transaction(read_only=True) as session:
        if database.dialect == "postgresql":
            level = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
            await session.execute(text(level))
        for table in tables():
            with (folder / f"{table.name}.jsonl").open("w", encoding="utf-8") as stream:
                counts[table.name] = 0
                async for row in _rows(session, table):
                    written = change(table.name, row) if change else row
                    stream.write(json.dumps(written, ensure_ascii=False) + "\n")
                    counts[table.name] += 1
    return counts


async def load(database: Database, folder: Path, change: Change | None = None) -> dict[str, int]:
    """Put a dump in the place of everything that is there, in one transaction."""
    counts: dict[str, int] = {}
    async with database.transaction() as session:
        for table in reversed(tables()):
            await session.execute(delete(table))
        for table in tables():
            counts[table.name] = 0
            for rows in _batches(folder / f"{table.name}.jsonl"):
                changed = [change(table.name, row) if change else row for row in rows]
                await session.execute(insert(table), [_typed(table, row) for row in changed])
                counts[table.name] += len(rows)
        if database.dialect == "postgresql":
            await _advance_sequences(session)
    return counts


async def is_empty(database: Database) -> bool:
    """Whether nothing was ever stored."""
    async with database.transaction(read_only=True) as session:
        for table in tables():
            if await session.scalar(select(func.count()).select_from(table)):
                return False
    return True


async def _rows(session: AsyncSession, table: Table) -> AsyncGenerator[Row]:
    found = await session.stream(select(table).order_by(*table.primary_key.columns))
    async for row in found.mappings():
        yield {column.name: _plain(row[column]) for column in table.columns}


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _typed(table: Table, row: Mapping[str, Any]) -> Row:
    """The row with its moments as such; columns that a later version took away are left out."""
    return {
        column.key: _moment(column, row[column.name])
        for column in table.columns
        if column.name in row
    }


def _moment(column: Column[Any], value: Any) -> Any:
    if isinstance(column.type, UtcDateTime) and value is not None:
        return datetime.fromisoformat(value)
    return value


def _batches(path: Path) -> Iterable[list[Row]]:
    if not path.exists():
        return  # the dump is older than the table
    batch: list[Row] = []
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            batch.append(json.loads(line))
            if len(batch) == _ROWS:
                yield batch
                batch = []
    if batch:
        yield batch


async def _advance_sequences(session: AsyncSession) -> None:
    """Numbers given out from now on come after those that were loaded."""
    for table in tables():
        column = table.autoincrement_column
        if column is not None:
            await session.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'), "
                    f"COALESCE(MAX({column.name}), 0) + 1, false) FROM {table.name}"
                )
            )
