"""Moves a book from one index to another with its vectors: nothing is embedded again."""

from __future__ import annotations

from collections.abc import Callable

from quire.errors import ConfigurationError
from quire.index.port import Index

Progress = Callable[[int, int], None]
"""Called with the chunks copied so far and the chunks in all."""


async def copy_book(
    source: Index, target: Index, book_id: str, progress: Progress | None = None
) -> int:
    """Make the target's book equal to the source's; returns how many chunks it has.

    Chunks the source doesn't have are removed from the target after the others are durable,
    so its readers never meet a hole; a copy that was cut short can simply be run again.
    Raises `EmbedderMismatch` when the target holds another vector space.
    """
    embedder = await source.embedder()
    if embedder is None:
        raise ConfigurationError("there is nothing to copy: the source index is empty")
    await target.prepare(embedder)
    total = await source.count(book_id)
    copied: set[str] = set()
    cursor: str | None = None
    while True:
        page, cursor = await source.scroll(book_id, after=cursor)
        ids = [chunk.id for chunk in page]
        await target.upsert(await source.fetch_points(book_id, ids))
        copied.update(ids)
        if progress is not None:
            progress(len(copied), total)
        if cursor is None:
            break
    await target.commit()
    await _remove_others(target, book_id, copied)
    return len(copied)


async def _remove_others(target: Index, book_id: str, keep: set[str]) -> None:
    surplus: list[str] = []
    cursor: str | None = None
    while True:
        page, cursor = await target.scroll(book_id, after=cursor)
        surplus += [chunk.id for chunk in page if chunk.id not in keep]
        if cursor is None:
            break
    if surplus:
        await target.delete(book_id, surplus)
        await target.commit()
