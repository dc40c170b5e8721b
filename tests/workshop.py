"""A book on disk and everything needed to ingest it, for tests of ingestion."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from quire.books import Book, load_book
from quire.database import Database, upgrade
from quire.index.port import Index
from quire.ingestion.ingester import Ingester
from quire.ingestion.state import IngestionState
from quire.models import Chunk
from quire.testing.embedding import HashEmbedder
from quire.testing.index import MemoryIndex

_WORDS = (
    "robot sensor joint topic service action node frame camera lidar planner controller torque "
    "velocity gripper simulator policy reward episode latency bridge transform odometry map goal"
).split()


def prose(rng: random.Random, words: int = 40) -> str:
    """A paragraph of made-up sentences."""
    sentences: list[str] = []
    while words > 0:
        length = rng.randint(6, 14)
        sentences.append(" ".join(rng.choices(_WORDS, k=length)).capitalize() + ".")
        words -= length
    return " ".join(sentences)


def page(number: int, *, seed: int = 0, sections: int = 3, words: int = 120) -> str:
    """A page with a title and sections; the same arguments give the same text."""
    rng = random.Random(f"{seed}/{number}")
    parts = [f"# Page {number}", prose(rng)]
    for section in range(sections):
        parts += [f"## Section {number}.{section}", prose(rng, words), prose(rng, words)]
    return "\n\n".join(parts) + "\n"


def write_pages(root: Path, count: int, *, seed: int = 0, sections: int = 3) -> None:
    """Pages `guide/page-00.md`, … in a folder."""
    (root / "guide").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        text = page(number, seed=seed, sections=sections)
        (root / "guide" / f"page-{number:02}.md").write_text(text)


@dataclass
class Workshop:
    """One book, its stores and the ingester."""

    root: Path
    database: Database
    index: Index
    embedder: HashEmbedder
    state: IngestionState
    ingester: Ingester

    @property
    def book(self) -> Book:
        return load_book(self.root, book_id="book")

    def with_embedder(self, embedder: HashEmbedder) -> Workshop:
        ingester = Ingester(state=self.state, index=self.index, embedder=embedder)
        return replace(self, embedder=embedder, ingester=ingester)

    async def chunks(self, book_id: str = "book") -> dict[str, Chunk]:
        return await all_chunks(self.index, book_id)

    async def snapshot(self, book_id: str = "book") -> dict[str, Chunk]:
        """The index's content without its history: what a clean ingest gives, too."""
        return {key: timeless(chunk) for key, chunk in (await self.chunks(book_id)).items()}


@asynccontextmanager
async def open_workshop(
    folder: Path, *, index: Index | None = None, batch_texts: int = 256, batch_files: int = 64
) -> AsyncGenerator[Workshop]:
    """Stores in `folder`, the book in `folder/book`."""
    root = folder / "book"
    root.mkdir(parents=True, exist_ok=True)
    database = Database(f"sqlite:///{folder / 'quire.db'}")
    await upgrade(database)
    store: Index = index if index is not None else MemoryIndex()
    embedder = HashEmbedder()
    state = IngestionState(database)
    ingester = Ingester(
        state=state,
        index=store,
        embedder=embedder,
        batch_texts=batch_texts,
        batch_files=batch_files,
    )
    try:
        yield Workshop(root, database, store, embedder, state, ingester)
    finally:
        await store.close()
        await database.close()


async def all_chunks(index: Index, book_id: str) -> dict[str, Chunk]:
    found: dict[str, Chunk] = {}
    after: str | None = None
    while True:
        part, after = await index.scroll(book_id, after=after)
        found |= {chunk.id: chunk for chunk in part}
        if after is None:
            return found


def timeless(chunk: Chunk) -> Chunk:
    then = datetime(2000, 1, 1, tzinfo=UTC)
    return replace(chunk, created_at=then, updated_at=then)
