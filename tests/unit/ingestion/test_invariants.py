from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quire.books import Book, discover, load_book, read_bytes
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.invariants import check_chunks, check_ids
from quire.ingestion.pages import Page, read_page
from quire.ingestion.splitting import chunk_page
from quire.models import Chunk

TEXT = "\n\n".join(
    f"## S{n}\n\nTen words are here so that nothing is joined {n}." for n in range(3)
)


def made() -> list[Chunk]:
    book = Book(id="b", title="B", root=Path("/b"))
    page = read_page(book, "a.md", TEXT.encode())
    assert isinstance(page, Page)
    result = chunk_page(book, page, max_tokens=256, count_tokens=estimate, identity=LessonKeys())
    return list(result.chunks)


def test_a_sound_page_has_no_findings() -> None:
    assert check_chunks(made(), {"a.md": TEXT}) == []
    assert check_ids("b:a.md", made()) == []


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"text": "other text here"}, "content_hash"),
        ({"next_chunk_id": None}, "only the last"),
        ({"prev_chunk_id": None}, "only the first"),
        ({"chunk_index": 9}, "below total_chunks"),
        ({"parent_doc_id": "x"}, "no UUID"),
        ({"char_start": 3}, "offsets"),
        ({"word_count": 1}, "counts"),
        ({"token_count": 1}, "token_count"),
        ({"line_start": 90}, "lines"),
        ({"source_file_hash": "0"}, "several versions"),
        ({"version": 0}, "version"),
    ],
)
def test_each_broken_field_is_found(changes: dict[str, Any], finding: str) -> None:
    chunks = made()
    chunks[1] = replace(chunks[1], **changes)
    assert any(finding in problem for problem in check_chunks(chunks, {"a.md": TEXT}))


def test_missing_doubled_and_foreign_chunks_are_found() -> None:
    first, second, third = made()
    assert any("chain" in line for line in check_chunks([first, third]))
    assert any("twice" in line for line in check_chunks([first, second, third, third]))
    circle = replace(third, next_chunk_id=first.id)
    assert any("circle" in line for line in check_chunks([first, second, circle]))
    assert any("not there" in line for line in check_chunks([first, second, third], {}))
    elsewhere = replace(first, source_file="b.md", id=second.id)
    assert any("parent" in line for line in check_chunks([elsewhere, second]))


def test_a_gap_in_the_page_is_found() -> None:
    problems = check_chunks(made(), {"a.md": TEXT + "\n\nMore."})
    assert problems == [f"a.md: characters {len(TEXT)}–{len(TEXT) + 7} belong to no chunk"]


def test_the_sample_book_is_sound(sample_book: Path) -> None:
    book = load_book(sample_book)
    files = discover(book)
    keys = LessonKeys.from_files(book, files)
    chunks: list[Chunk] = []
    sources: dict[str, str] = {}
    for file in files:
        page = read_page(book, file.source_file, read_bytes(file))
        if isinstance(page, Page):
            assert page.warnings == ()
            sources[file.source_file] = page.source
            chunks += chunk_page(
                book, page, max_tokens=256, count_tokens=estimate, identity=keys
            ).chunks
    assert len(keys.keys) > 24
    assert check_chunks(chunks, sources) == []
