"""Large pages have a process of their own: the same chunks, and no page for ever."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from quire.books import Book
from quire.errors import PageRejected
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.splitters import LARGE_PAGE, Splitters
from quire.ingestion.splitting import PageChunks, split_file
from quire.models import utc_now

BOOK = Book(id="book", title="Book", root=Path("/nowhere"))
SECTION = "## Part {}\n\nThe {}. part says *what* it says: `code_{}`, and more than that.\n\n"
NOW = utc_now()
LARGE = "# Page\n\n" + "".join(SECTION.format(n, n, n) for n in range(900))


async def split(splitters: Splitters, text: str, **how: object) -> PageChunks | None:
    values = {"max_tokens": 256, "count_tokens": estimate, "identity": LessonKeys(), **how}
    return await splitters.split(BOOK, "a.md", text.encode(), **values)  # pyright: ignore[reportArgumentType]


def timeless(split: PageChunks | None) -> object:
    assert split is not None
    return [
        replace(chunk, created_at=NOW, updated_at=NOW) for chunk in split.chunks
    ], split.embedded


async def test_a_large_page_gives_the_chunks_that_it_gives_here() -> None:
    assert len(LARGE) > LARGE_PAGE
    lessons = LessonKeys({"a.md": ("root", 1, 2), "b.md": ("root", 1, 3)})
    # a counter above its estimate makes the splitter count everything, also from over there
    here = split_file(
        BOOK,
        "a.md",
        LARGE.encode(),
        max_tokens=256,
        count_tokens=lambda text: 2 * estimate(text),
        identity=lessons,
    )
    async with Splitters() as splitters:
        there = await split(
            splitters, LARGE, count_tokens=lambda text: 2 * estimate(text), identity=lessons
        )
    assert timeless(there) == timeless(here)
    assert len(there.chunks if there else ()) > 128, "more than one frame"


async def test_what_is_skipped_or_rejected_is_so_there_too() -> None:
    async with Splitters() as splitters:
        assert await split(splitters, "---\ndraft: true\n---\n" + LARGE) is None
        process = children()
        with pytest.raises(PageRejected) as rejected:
            await split(splitters, "---\ntitle: [\n---\n" + LARGE)
        assert (rejected.value.source_file, rejected.value.line) == ("a.md", 3)
        assert await split(splitters, LARGE)
        assert children() == process, "the same goes on"


async def test_a_page_that_takes_too_long_is_given_up() -> None:
    async with Splitters(seconds=3) as splitters:
        before = set(children())

        def stop(_: str) -> int:
            for child in set(children()) - before:
                os.kill(child, signal.SIGSTOP)
            return 1

        with pytest.raises(PageRejected, match="longer than 3 s"):
            await split(splitters, LARGE, count_tokens=stop)
        assert not set(children()) - before
        assert await split(splitters, LARGE)


async def test_waiting_for_the_model_is_not_the_pages_fault() -> None:
    waited: list[str] = []

    def slow(text: str) -> int:
        if not waited:
            waited.append(text)
            time.sleep(3)
        return estimate(text)

    async with Splitters(seconds=2) as splitters:
        assert await split(splitters, LARGE, count_tokens=slow)
    assert waited


async def test_a_page_that_ends_the_process_is_rejected_alone() -> None:
    async with Splitters() as splitters:
        before = set(children())

        def kill(_: str) -> int:
            for child in set(children()) - before:
                os.kill(child, signal.SIGKILL)
            return 1

        with pytest.raises(PageRejected, match="the process that split it ended"):
            await split(splitters, LARGE, count_tokens=kill)
        assert await split(splitters, LARGE)


async def test_leaving_ends_the_process() -> None:
    before = set(children())
    release = threading.Event()
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stuck(_: str) -> int:
        loop.call_soon_threadsafe(asked.set)
        release.wait(30)
        return 1

    async with Splitters() as splitters:
        task = asyncio.create_task(split(splitters, LARGE, count_tokens=stuck))
        await asked.wait()
        assert set(children()) - before
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not set(children()) - before
        release.set()


def test_the_process_does_not_outlive_one_that_is_killed() -> None:
    program = (
        "import asyncio, time; from tests.unit.ingestion.test_splitters import *\n"
        "async def main():\n"
        "    splitters = Splitters()\n"
        "    await split(splitters, LARGE)\n"
        "    print(*children(), flush=True)\n"
        "    time.sleep(30)\n"
        "asyncio.run(main())"
    )
    command = (sys.executable, "-c", program)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    try:
        ended, _, _ = select.select([child], [], [], 10)
        assert ended
    finally:
        os.close(child)


def children() -> list[int]:
    """The processes that this one has."""
    found: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has just ended
            found += map(int, (task / "children").read_text().split())
    return found
