from __future__ import annotations

from pathlib import Path

from quire.books import Book
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.invariants import check_chunks
from quire.ingestion.pages import Page, read_page
from quire.ingestion.splitting import PageChunks, chunk_page

BOOK = Book(id="b", title="B", root=Path("/b"), base_url="https://example.org")
LONG = "This sentence has exactly ten words in it, I think. "


def split(text: str, name: str = "guide/a.md", window: int = 256) -> PageChunks:
    page = read_page(BOOK, name, text.encode())
    assert isinstance(page, Page)
    made = chunk_page(BOOK, page, max_tokens=window, count_tokens=estimate, identity=LessonKeys())
    assert check_chunks(made.chunks, {name: text}) == []
    return made


def texts(text: str, window: int = 256) -> list[str]:
    return [chunk.text for chunk in split(text, window=window).chunks]


def test_sections_become_chunks_with_their_path_and_anchor() -> None:
    text = f"---\ntitle: Page\n---\n\n# Page\n\n{LONG}\n\n## One\n\n{LONG}\n\n### Two\n\n{LONG}"
    made = split(text)
    assert [chunk.section_path for chunk in made.chunks] == [(), ("One",), ("One", "Two")]
    assert [chunk.section_title for chunk in made.chunks] == [None, "One", "Two"]
    assert [chunk.source_url for chunk in made.chunks] == [
        "https://example.org/guide/a",
        "https://example.org/guide/a#one",
        "https://example.org/guide/a#two",
    ]
    assert made.chunks[2].breadcrumb == "Guide > Page > One > Two"
    assert made.embedded[2] == f"Page > One > Two\n{LONG.strip()}"
    assert made.embedded[0] == f"Page\n{LONG.strip()}"
    assert (made.chunks[1].line_start, made.chunks[1].line_end) == (9, 11)


def test_a_heading_without_content_goes_to_what_follows() -> None:
    made = split(f"## Part\n\n### One\n\n{LONG}\n\n### Two\n\n{LONG}")
    assert made.chunks[0].text.startswith("## Part\n\n### One")
    assert made.chunks[0].source_url.endswith("#one")
    assert len(made.chunks) == 2


def test_a_trailing_heading_goes_to_what_precedes() -> None:
    text = f"## One\n\n{LONG}\n\n## Next steps"
    assert texts(text) == [text]


def test_tiny_sections_join_a_sibling_but_not_another_branch() -> None:
    made = split(f"## A\n\n### One\n\nYes.\n\n### Two\n\nNo.\n\n## B\n\n{LONG}")
    assert [chunk.section_title for chunk in made.chunks] == ["One", "B"]


def test_a_stub_gives_one_chunk_and_less_than_ten_characters_none() -> None:
    assert texts("# A\n\nComing soon.") == ["# A\n\nComing soon."]
    assert texts("# A\n\nb") == []


def test_a_long_paragraph_is_cut_at_sentences() -> None:
    parts = texts(LONG * 60, window=128)
    assert len(parts) > 4
    assert all(part.endswith("think.") and part.startswith("This") for part in parts)
    sizes = [len(part) for part in parts]
    assert min(sizes) > 0.5 * max(sizes)


def test_a_long_table_repeats_its_header_in_what_is_embedded() -> None:
    rows = "\n".join(f"| part {n} | costs {n} euros today |" for n in range(80))
    made = split(f"## Parts\n\n| Name | Price |\n|---|---|\n{rows}", window=128)
    assert len(made.chunks) > 3
    for chunk, embedded in zip(made.chunks, made.embedded, strict=True):
        assert "Name: part" in embedded
        assert "Price: costs" in embedded
        assert chunk.text.endswith("|")
    assert "| Name |" not in made.chunks[1].text
    assert [chunk.opening for chunk in made.chunks[:2]] == ["", "| Name | Price |\n|---|---|"]


def test_long_code_is_cut_between_functions_and_keeps_its_language() -> None:
    functions = "\n\n".join(
        f"def f{n}(x):\n    y = x + {n}\n    z = y * {n}\n    return [y, z, 'text {n}']"
        for n in range(30)
    )
    made = split(f"## Code\n\n```python\n{functions}\n```", window=128)
    assert len(made.chunks) > 5
    for chunk, embedded in zip(made.chunks[1:], made.embedded[1:], strict=True):
        assert chunk.text.startswith("def f")
        assert embedded.splitlines()[1] == "python"
        assert chunk.opening == "```python"
    assert made.chunks[0].opening == ""


def test_a_fence_that_fits_stays_whole() -> None:
    code = "\n".join(f"value_{n} = {n}" for n in range(20))
    fence = f"```python\n{code}\n```"
    parts = texts(f"## A\n\n{LONG * 14}\n\n{fence}\n\n{LONG * 14}")
    assert any(fence in part for part in parts)


def test_a_list_stays_with_the_sentence_that_leads_to_it() -> None:
    items = "\n".join(f"- the item number {n} of this list" for n in range(12))
    parts = texts(f"## A\n\n{LONG * 12}\n\nDo these:\n\n{items}\n\n{LONG * 6}")
    assert any(f"Do these:\n\n{items}" in part for part in parts)


def test_the_path_is_shortened_when_titles_are_long() -> None:
    title = "A very long title that goes on and on " * 6
    made = split(f"# {title}\n\n## {title}\n\n### {title}x\n\n{LONG}", window=128)
    assert all(estimate(text) <= 126 for text in made.embedded)
    assert LONG.strip() in made.embedded[-1]


def test_a_huge_tag_or_comment_spreads_over_chunks_without_words() -> None:
    items = "\n".join(f"    {{q: 'question {n}', a: 'answer {n}'}}," for n in range(400))
    made = split(f"{LONG}\n\n<Quiz items={{[\n{items}\n]}} />\n\n{LONG}", name="a.mdx")
    assert max(len(chunk.text) for chunk in made.chunks) < 8_000
    assert all("question" not in text for text in made.embedded)


def test_editing_one_section_leaves_the_other_chunks_alone() -> None:
    sections = [f"## Section {n}\n\n{LONG * (n % 5 + 1)} Number {n}." for n in range(20)]
    before = {chunk.id for chunk in split("\n\n".join(sections)).chunks}
    sections[7] = sections[7].replace("Number 7", "Changed 7")
    after = {chunk.id for chunk in split("\n\n".join(sections)).chunks}
    assert len(before - after) == len(after - before) == 1


def test_crlf_pages_have_the_same_sections() -> None:
    text = f"# T\n\n{LONG}\n\n## A\n\n{LONG}\n\n```\nx\n\ny\n```\n"
    unix, windows = split(text), split(text.replace("\n", "\r\n"))
    assert [c.section_path for c in unix.chunks] == [c.section_path for c in windows.chunks]
    assert unix.embedded == windows.embedded


def test_words_tokens_and_characters_are_counted() -> None:
    (chunk,) = split("one two three four five six seven eight nine ten").chunks
    assert (chunk.word_count, chunk.token_count, chunk.char_count) == (10, 13, 48)
    assert (chunk.version, chunk.prev_chunk_id, chunk.next_chunk_id) == (1, None, None)
