"""What the index suite is made of: chunks, points, and the adapters it runs on."""

from __future__ import annotations

import os
import shutil
import uuid
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quire.index.edge import EdgeIndex
from quire.index.finds import Finds
from quire.index.lexical import Bm25
from quire.index.port import EmbedderInfo, Index, Point
from quire.index.server import ServerIndex
from quire.models import NAMESPACE, Chunk, Rendition, Run
from quire.testing.index import MemoryIndex

DIMENSION = 8
EMBEDDER = EmbedderInfo("toy", DIMENSION)
BM25 = Bm25()
WHEN = datetime(2025, 3, 1, 12, 30, tzinfo=UTC)
SERVER = os.environ.get("QUIRE_TEST_QDRANT_URL")

MEMORY_DISK = Path("/dev/shm")

Opener = Callable[[], Awaitable[Index]]


def chunk_id(book: str, number: int) -> str:
    return str(uuid.uuid5(NAMESPACE, f"{book}:{number}"))


def make_chunk(number: int, text: str = "", book: str = "robots", **changes: Any) -> Chunk:
    """Chunk `number` of a book: page number // 4, with fields that vary along the book."""
    page = number // 4
    text = text or f"Passage number {number} of page {page} in {book}."
    chunk = Chunk(
        id=chunk_id(book, number),
        text=text,
        book_id=book,
        source_file=f"docs/page-{page}.md",
        module=("ros2", "gazebo")[page % 2],
        chapter=page,
        lesson=number % 3,
        page_title=f"Page {page}",
        section_title=None if number % 4 == 0 else f"Section {number % 4}",
        section_path=("Part", f"Page {page}"),
        breadcrumb=f"Part > Page {page}",
        source_url=f"https://books.example/page-{page}#section-{number % 4}",
        language="en" if number % 5 else "ur",
        hardware_tier=1 + number % 4,
        proficiency_level=("A1", "A2", "B1")[number % 3],
        layer=f"L{1 + number % 2}",
        char_start=number * 100,
        char_end=number * 100 + len(text),
        line_start=number + 1,
        line_end=number + 2,
        parent_doc_id=str(uuid.uuid5(NAMESPACE, f"{book}:page-{page}:parent")),
        chunk_index=number % 4,
        total_chunks=4,
        prev_chunk_id=chunk_id(book, number - 1) if number % 4 else None,
        next_chunk_id=chunk_id(book, number + 1) if number % 4 < 3 else None,
        content_hash=f"{number:064x}",
        source_file_hash=f"{page:064x}",
        embedded_hash=f"{number:064x}",
        created_at=WHEN,
        updated_at=WHEN,
        word_count=7,
        token_count=9,
        char_count=len(text),
        rendition=Rendition(f"**{text}**", (Run(2, 0, len(text), len(text)),))
        if page % 2
        else None,
    )
    return replace(chunk, **changes)


def vector(number: int) -> NDArray[np.float32]:
    raw = np.random.default_rng(number).standard_normal(DIMENSION).astype(np.float32)
    return (raw / np.linalg.norm(raw)).astype(np.float32)


def make_point(number: int, text: str = "", book: str = "robots", **changes: Any) -> Point:
    chunk = make_chunk(number, text, book, **changes)
    return Point(chunk, vector(number), BM25.document(chunk.text))


@dataclass
class First:
    """A ranking that takes the finds as they come, three of them."""

    finds: Finds

    @property
    def rows(self) -> range:
        return range(min(3, len(self.finds)))


@contextmanager
def memory_disk(tmp_path: Path) -> Generator[Path]:
    """A folder on a memory disk where there is one: the suites are not about the disk's speed."""
    if not MEMORY_DISK.is_dir():
        yield tmp_path
        return
    folder = MEMORY_DISK / f"quire-{uuid.uuid4().hex}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def adapter(kind: str, folder: Path) -> AsyncGenerator[Index]:
    """An empty index of this kind, closed afterwards."""
    index = await opener(kind, folder)()
    try:
        yield index
    finally:
        await index.close()


def opener(kind: str, folder: Path) -> Opener:
    """Opens the index of this kind at this place: twice is the same store, where it lasts."""

    async def memory() -> Index:
        return MemoryIndex()

    async def edge() -> Index:
        return await EdgeIndex.open(folder / "index")

    async def apart() -> Index:
        return await EdgeIndex.open(folder / "index", apart=True)

    async def server() -> Index:
        from qdrant_client import AsyncQdrantClient

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if SERVER is None:
                return ServerIndex(AsyncQdrantClient(":memory:"))
        name = "quire-test-" + uuid.uuid5(NAMESPACE, str(folder)).hex[:12]
        return ServerIndex.open(SERVER, name)

    return {"memory": memory, "edge": edge, "apart": apart, "server": server}[kind]
