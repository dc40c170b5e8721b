"""Callers that leave in the middle of a transaction: the write lock is always given back."""

import asyncio
import random
import sqlite3
import threading
import time
from pathlib import Path

import anyio
from sqlalchemy import text

from quire.concurrency import uninterrupted
from quire.database import Database

SECONDS = 4.0


def lock_now_and_then(path: Path, stop: threading.Event, refused: list[str]) -> None:
    """Another process that writes: transactions have to wait for it, and it for them."""
    rng = random.Random(1)
    other = sqlite3.connect(path, isolation_level=None, timeout=15)
    while not stop.is_set():
        try:
            other.execute("BEGIN IMMEDIATE")
            time.sleep(rng.random() * 0.1)
            other.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            refused.append(str(error))
        time.sleep(rng.random() * 0.05)
    other.close()


async def test_a_caller_that_leaves_never_keeps_the_write_lock(tmp_path: Path) -> None:
    path, rng, refused, stop = tmp_path / "q.db", random.Random(2), list[str](), threading.Event()
    database = Database(f"sqlite+aiosqlite:///{path}")
    async with database.transaction() as session:
        await session.execute(text("CREATE TABLE t (a INTEGER)"))

    async def write(number: int) -> None:
        async with database.transaction() as session:
            await session.execute(text("INSERT INTO t VALUES (:a)"), {"a": number})
            await session.execute(text("SELECT count(*) FROM t"))

    async def leave(number: int) -> None:
        with anyio.move_on_after(rng.random() * 0.15):  # it cancels again and again
            await write(number)

    other = threading.Thread(target=lock_now_and_then, args=(path, stop, refused))
    other.start()
    try:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            tasks = [asyncio.create_task(leave(number)) for number in range(6)]
            await asyncio.sleep(rng.random() * 0.05)
            rng.choice(tasks).cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            async with asyncio.timeout(10):
                await write(-1)
    finally:
        stop.set()
        await asyncio.to_thread(other.join)
        await database.close()
    assert refused == []


async def test_an_uninterrupted_step_ends_however_often_it_is_cancelled() -> None:
    done: list[int] = []

    async def step() -> None:
        await asyncio.sleep(0.05)
        done.append(1)

    task = asyncio.create_task(uninterrupted(step()))
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert done == [1]
    assert task.cancelled()


async def test_a_cancellation_counts_more_than_the_error_of_the_step() -> None:
    async def step() -> None:
        await asyncio.sleep(0.05)
        raise ZeroDivisionError

    task = asyncio.create_task(uninterrupted(step()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()


async def test_a_failed_and_cancelled_transaction_is_cancelled_and_undone(tmp_path: Path) -> None:
    database = Database(f"sqlite+aiosqlite:///{tmp_path / 'q.db'}")
    async with database.transaction() as session:
        await session.execute(text("CREATE TABLE t (a INTEGER UNIQUE)"))

    async def fail() -> None:
        async with database.transaction() as session:
            await session.execute(text("INSERT INTO t VALUES (1)"))
            asyncio.get_running_loop().call_soon(task.cancel)
            await session.execute(text("INSERT INTO t VALUES (1)"))

    task = asyncio.create_task(fail())
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()
    async with database.transaction(read_only=True) as session:
        assert await session.scalar(text("SELECT count(*) FROM t")) == 0
    await database.close()
