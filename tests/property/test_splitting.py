from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.books import Book
from quire.errors import PageRejected
from quire.ingestion.blocks import scan
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.invariants import check_chunks, check_ids
from quire.ingestion.pages import Page, read_page
from quire.ingestion.sentences import spans
from quire.ingestion.splitting import PageChunks, chunk_page
from tests.property.markdown import pages

BOOK = Book(id="book", title="Book", root=Path("/nowhere"))
SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def count_words(text: str) -> int:
    return len(text.split())


def split(
    text: str, name: str, *, window: int = 64, count: Callable[[str], int] = estimate
) -> tuple[Page, PageChunks] | None:
    try:
        page = read_page(BOOK, name, text.encode("utf-8", "surrogatepass"))
    except PageRejected:
        return None
    if not isinstance(page, Page):
        return None
    made = chunk_page(BOOK, page, max_tokens=window, count_tokens=count, identity=LessonKeys())
    return page, made


@SETTINGS
@given(pages, st.sampled_from(["a.md", "a.mdx"]), st.sampled_from([40, 64, 256]))
def test_chunks_tile_the_page_with_exact_slices(text: str, name: str, window: int) -> None:
    made = split(text, name, window=window)
    if made is None:
        return
    page, result = made
    assert page.source == text
    if result.chunks:
        assert check_chunks(result.chunks, {name: text}) == []
        assert check_ids(f"book:{name}", result.chunks) == []
    else:
        start = page.blocks[0].start
        assert len(text[start:].strip()) < 10


@SETTINGS
@given(pages, st.sampled_from([estimate, count_words, len]))
def test_embedded_texts_stay_within_the_window(text: str, count: Callable[[str], int]) -> None:
    made = split(text, "a.md", window=120, count=count)
    for embedded in made[1].embedded if made else ():
        assert count(embedded) <= 118


@SETTINGS
@given(pages)
def test_the_same_bytes_give_the_same_chunks(text: str) -> None:
    first, second = split(text, "a.md"), split(text, "a.md")
    if first is None or second is None:
        assert first is second
        return
    assert [chunk.id for chunk in first[1].chunks] == [chunk.id for chunk in second[1].chunks]
    assert first[1].embedded == second[1].embedded


@SETTINGS
@given(pages)
def test_a_fence_that_fits_in_a_chunk_is_never_cut(text: str) -> None:
    made = split(text, "a.md", window=256)
    if made is None:
        return
    page, result = made
    ranges = [(chunk.char_start, chunk.char_end) for chunk in result.chunks]
    for block in page.blocks:
        if block.kind == "fence" and estimate(text[block.start : block.end]) < 120:
            inside = [r for r in ranges if r[0] < block.end and r[1] > block.start]
            assert len(inside) <= 1


@SETTINGS
@given(pages, st.booleans())
def test_blocks_cover_everything_that_is_not_blank(text: str, mdx: bool) -> None:
    at = 0
    for block in scan(text, mdx=mdx):
        assert not text[at : block.start].strip()
        assert block.start < block.end
        at = block.end
    assert not text[at:].strip()


@SETTINGS
@given(pages)
def test_sentence_spans_are_in_order_and_trimmed(text: str) -> None:
    at = 0
    for span in spans(text):
        assert at <= span.start < span.end
        assert text[span.start : span.end] == text[span.start : span.end].strip()
        at = span.end


@SETTINGS
@given(st.text(max_size=2000), st.sampled_from(["a.rst", "a.txt"]))
def test_other_formats_tile_too(text: str, name: str) -> None:
    made = split(text, name)
    if made is not None and made[1].chunks:
        assert check_chunks(made[1].chunks, {name: text}) == []


@SETTINGS
@given(pages)
def test_an_edit_below_keeps_the_ids_above(text: str) -> None:
    added = "\n\n## A new section at the end\n\nIt has a sentence of its own that is long enough."
    before, after = split(text, "a.md"), split(text + added, "a.md")
    if before is None or after is None or any(b.kind == "fence" for b in before[0].blocks):
        return
    kept = {chunk.id for chunk in after[1].chunks}
    lost = [chunk for chunk in before[1].chunks if chunk.id not in kept]
    assert len(lost) <= 2 or "<!--" in text


@pytest.mark.parametrize("name", ["a.md", "a.mdx", "a.rst", "a.txt"])
def test_a_page_of_one_character_has_no_chunk(name: str) -> None:
    made = split("x", name)
    assert made is not None
    assert made[1].chunks == ()
