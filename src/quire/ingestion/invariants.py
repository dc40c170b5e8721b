"""Everything that must hold of the chunks of a book, checked in one place.

`quire doctor` and the tests both call `check_chunks`; an empty list means that all is well.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from quire.ingestion.frontmatter import read_front_matter
from quire.ingestion.identity import chunk_ids, sha256
from quire.models import Chunk


def check_chunks(chunks: Iterable[Chunk], sources: Mapping[str, str] | None = None) -> list[str]:
    """What is wrong with the chunks of one book, one line per finding.

    Checked are: unique ids that are UUIDs, `content_hash` and counts
    that fit the text, one parent per page and one page per parent, positions 0…total−1
    without a gap, a chain that runs through them once without a cycle, and neighbours that
    exist. With `sources` (source file → decoded text) also: exact slices, line numbers, and
    that the chunks of a page tile it (notebooks: only that they don't overlap).
    """
    pages: defaultdict[str, list[Chunk]] = defaultdict(list)
    problems: list[str] = []
    seen: set[str] = set()
    parents: dict[str, str] = {}
    for chunk in chunks:
        pages[chunk.source_file].append(chunk)
        if chunk.id in seen:
            problems.append(f"{_name(chunk)}: the id occurs twice")
        seen.add(chunk.id)
        other = parents.setdefault(chunk.parent_doc_id, chunk.source_file)
        if other != chunk.source_file:
            problems.append(f"{_name(chunk)}: shares its parent with {other}")
        problems.extend(_check_chunk(chunk))
    for source_file in sorted(pages):
        page = sorted(pages[source_file], key=lambda chunk: chunk.chunk_index)
        problems.extend(_check_page(source_file, page))
        if sources is not None:
            problems.extend(_check_source(source_file, page, sources.get(source_file)))
    return problems


def check_ids(scope: str, chunks: Sequence[Chunk]) -> list[str]:
    """Whether a page's chunks, in order, have the ids their scope and contents give."""
    expected = chunk_ids(scope, (chunk.content_hash for chunk in chunks))
    return [
        f"{_name(chunk)}: the id does not follow from its content"
        for chunk, identifier in zip(chunks, expected, strict=True)
        if chunk.id != identifier
    ]


def _name(chunk: Chunk) -> str:
    return f"{chunk.source_file} chunk {chunk.chunk_index} ({chunk.id})"


def _check_chunk(chunk: Chunk) -> Iterator[str]:
    name = _name(chunk)
    if not _is_uuid(chunk.id) or not _is_uuid(chunk.parent_doc_id):
        yield f"{name}: id or parent is no UUID"
    if chunk.text != chunk.text.strip():
        yield f"{name}: the text is not stripped"
    if len(chunk.text) < 10:
        yield f"{name}: the text is shorter than 10 characters"
    if chunk.content_hash != sha256(chunk.text):
        yield f"{name}: content_hash is not the hash of the text"
    words = len(chunk.text.split())
    if chunk.char_count != len(chunk.text) or chunk.word_count != max(1, words):
        yield f"{name}: the counts are not those of the text"
    if chunk.token_count != max(1, int(words * 1.3)):
        yield f"{name}: token_count is not words × 1.3"
    if chunk.char_end - chunk.char_start != len(chunk.text) or chunk.char_start < 0:
        yield f"{name}: the offsets don't fit the text"
    if not 1 <= chunk.line_start <= chunk.line_end:
        yield f"{name}: the lines are out of order"
    if not 0 <= chunk.chunk_index < chunk.total_chunks:
        yield f"{name}: chunk_index is not below total_chunks"
    if (chunk.chunk_index == 0) != (chunk.prev_chunk_id is None):
        yield f"{name}: only the first chunk has no predecessor"
    if (chunk.chunk_index == chunk.total_chunks - 1) != (chunk.next_chunk_id is None):
        yield f"{name}: only the last chunk has no successor"
    if chunk.version < 1 or chunk.updated_at < chunk.created_at:
        yield f"{name}: version or time stamps are wrong"


def _check_page(source_file: str, page: list[Chunk]) -> Iterator[str]:
    if len({chunk.parent_doc_id for chunk in page}) > 1:
        yield f"{source_file}: its chunks have several parents"
    if len({chunk.source_file_hash for chunk in page}) > 1:
        yield f"{source_file}: its chunks come from several versions of the file"
    if [chunk.chunk_index for chunk in page] != list(range(page[0].total_chunks)):
        yield f"{source_file}: positions are not 0…{page[0].total_chunks - 1}"
    if any(chunk.total_chunks != len(page) for chunk in page):
        yield f"{source_file}: total_chunks is not {len(page)}"
    for before, after in pairwise(page):
        if before.next_chunk_id != after.id or after.prev_chunk_id != before.id:
            yield f"{_name(after)}: the chain is broken before it"
        if after.char_start < before.char_end:
            yield f"{_name(after)}: overlaps the chunk before it"
    yield from _check_cycles(source_file, page)


def _check_cycles(source_file: str, page: list[Chunk]) -> Iterator[str]:
    following = {chunk.id: chunk.next_chunk_id for chunk in page}
    reached: set[str] = set()
    at: str | None = page[0].id
    while at is not None:
        if at in reached:
            yield f"{source_file}: the chain runs in a circle"
            return
        if at not in following:
            yield f"{source_file}: the chain leads to {at}, which is no chunk of this page"
            return
        reached.add(at)
        at = following[at]


def _check_source(source_file: str, page: list[Chunk], source: str | None) -> Iterator[str]:
    if source is None:
        yield f"{source_file}: chunks of a file that is not there"
        return
    for chunk in page:
        if source[chunk.char_start : chunk.char_end] != chunk.text:
            yield f"{_name(chunk)}: the text is not the slice of its file"
        first = source.count("\n", 0, chunk.char_start) + 1
        if chunk.line_start != first or chunk.line_end != first + chunk.text.count("\n"):
            yield f"{_name(chunk)}: the lines are not those of the slice"
    if source_file.endswith(".ipynb"):
        return
    has_front_matter = source_file.endswith((".md", ".mdx", ".markdown"))
    start = 1 if source.startswith("\ufeff") else 0
    at = read_front_matter(source, source_file).body_start if has_front_matter else start
    for begin, end in [*((chunk.char_start, chunk.char_end) for chunk in page), (len(source),) * 2]:
        if source[at:begin].strip():
            yield f"{source_file}: characters {at}–{begin} belong to no chunk"
        at = max(at, end)


def _is_uuid(value: str) -> bool:
    try:
        return str(uuid.UUID(value)) == value
    except ValueError:
        return False
