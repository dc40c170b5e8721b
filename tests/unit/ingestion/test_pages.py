from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quire.books import Book, Taxonomy
from quire.errors import PageRejected
from quire.ingestion.pages import Page, Skipped, read_page

BOOK = Book(
    id="b",
    title="B",
    root=Path("/b"),
    base_url="https://example.org",
    profile="lessons",
    taxonomy=Taxonomy(
        modules=("ros2", "vla"),
        tiers=(1, 2, 3, 4),
        proficiency_levels=("A1", "A2", "B1"),
        layers=("L1", "L2"),
        chapters=(0, 20),
        lessons=(0, 15),
    ),
)
LESSON = "module-1-ros2/chapter-2-talk/03-topics.md"


def page(text: str, name: str = LESSON, book: Book = BOOK) -> Page:
    found = read_page(book, name, text.encode())
    assert isinstance(found, Page)
    return found


def test_front_matter_wins_over_path_over_defaults() -> None:
    plain = page("Text.")
    assert (plain.module, plain.chapter, plain.lesson) == ("ros2", 2, 3)
    assert (plain.hardware_tier, plain.proficiency_level, plain.layer) == (1, "A2", "L1")
    assert plain.title == "Topics"
    front = (
        "---\ntitle: Topics in depth\nmodule: vla\nchapter: 4\nlesson: 5\nhardware_tier: 3\n"
        "proficiency_level: B1\nlayer: L2\nlang: ur\nslug: deep\n---\nText."
    )
    full = page(front)
    assert (full.module, full.chapter, full.lesson) == ("vla", 4, 5)
    assert (full.hardware_tier, full.proficiency_level, full.layer) == (3, "B1", "L2")
    assert (full.title, full.language) == ("Topics in depth", "ur")
    assert full.url == "https://example.org/module-1-ros2/chapter-2-talk/deep"
    assert full.warnings == ()


def test_an_undeclared_value_is_a_warning_and_the_default_is_used() -> None:
    found = page(
        "---\nproficiency_level: A2-B1\nhardware_tier: 9\nlayer: X\nmodule: cooking\n"
        "chapter: 99\nlesson: one\n---\nText."
    )
    assert (found.proficiency_level, found.hardware_tier, found.layer) == ("A2", 1, "L1")
    assert (found.module, found.chapter, found.lesson) == ("ros2", 2, 3)
    assert len(found.warnings) == 6


def test_drafts_unlisted_partials_and_empty_pages_are_skipped() -> None:
    for text, name, reason in [
        ("---\ndraft: true\n---\nText.", "a.md", "draft"),
        ("---\nunlisted: true\n---\nText.", "a.md", "unlisted"),
        ("Text.", "_a.md", "partial"),
        ("Text.", "_x/a.md", "partial"),
        ("---\ntitle: x\n---\n \n", "a.md", "empty"),
        ("", "a.md", "empty"),
        ("\ufeff", "a.md", "empty"),
    ]:
        found = read_page(BOOK, name, text.encode())
        assert isinstance(found, Skipped)
        assert found.reason == reason


def test_titles_come_from_the_best_source() -> None:
    assert page("# The *first* `heading`\n\nText.", "a.md").title == "The first heading"
    assert page("## No title\n\nText.", "02-set_up.md").title == "Set up"
    assert page("Text.", "guide/README.md").title == "Guide"
    listed = replace(BOOK, layout="mkdocs", page_titles={"a.md": "From `nav`"})
    assert page("# Heading\n\nText.", "a.md", listed).title == "From nav"


def test_bad_bytes_are_rejected_with_offset_and_line() -> None:
    with pytest.raises(PageRejected, match="offset 9") as caught:
        read_page(BOOK, "a.md", b"# A\n\nText\xff")
    assert caught.value.line == 3
    with pytest.raises(PageRejected, match="UTF-16"):
        read_page(BOOK, "a.md", "Text".encode("utf-16"))
    with pytest.raises(PageRejected, match="NUL") as caught:
        read_page(BOOK, "a.md", b"a\nb\0")
    assert caught.value.line == 2
    with pytest.raises(PageRejected, match="not read"):
        read_page(BOOK, "a.pdf", b"x")


def test_languages_come_from_the_path_or_the_book() -> None:
    name = "i18n/ur/docusaurus-plugin-content-docs/current/a.md"
    assert page("Text.", name).language == "ur"
    assert page("Text.", "a.md", replace(BOOK, language="de")).language == "de"


def test_plain_text_is_split_at_blank_lines_only() -> None:
    text = "# no heading\n- no item\n\nSecond.\n"
    found = page(text, "a.txt")
    assert [text[b.start : b.end] for b in found.blocks] == ["# no heading\n- no item", "Second."]
    assert found.headings == {}


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("Models\n======\n\nA model is a :class:`~a.Model`.", "restructured"),
        ("Models\n------\n\n.. note::\n\n   Text.", "restructured"),
        ("Models\r\n======\r\n\r\nUse ``x``.\r\n", "restructured"),
        ("Models\n======\n\nA model is a table.", "text"),
        ("Use ``x`` here.\n\nNo title at all.", "text"),
        ("A line that is much longer than its marks\n===\n\n``x``", "text"),
    ],
)
def test_text_that_is_restructured_is_read_as_such(text: str, format: str) -> None:
    assert page(text, "topics/models.txt").format == format
