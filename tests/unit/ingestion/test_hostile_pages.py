"""Pages made to hurt: each is read and split in linear time, and still tiled exactly."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from quire.books import Book
from quire.errors import PageRejected
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.invariants import check_chunks
from quire.ingestion.pages import Page, read_page
from quire.ingestion.sentences import spans
from quire.ingestion.splitting import chunk_page

BOOK = Book(id="b", title="B", root=Path("/b"))
SIZE = 60_000
SECONDS = 2.0

ATOMS = [
    *("[", "*", "`", "<", "|", ">", "_", "~", "(", "{", "]", "&", "\\", "#", "-", ".", "a", "漢"),
    *("<!--", "<!--\n--> x\n", "<a ", '<a "', "<a {", "![", "[x](", "[^a]:", "**a", "*a **b "),
    *("`a", "- a\n", "1. a\n", "> ", "> ```\n", "# a\n", "a\n=\n", "| a |\n|---|\n", "$$ a\n"),
    *(":::note\n", "!!! note\n", "<pre>\n", "<T\n", '<T a="\n', "export const a = [\n\n"),
    *("import {\n", "{/*", "A. ", "e.g. ", "?!", "\rx", "\u2028x", "\ue0001\ue001", "    x\n"),
]
DOUBLED = [
    *ATOMS,
    *(
        "```\n",
        "~~~\n",
        "````\n```\n",
        "- ```\n",
        "> - > x\n",
        "|a|b|c\n",
        "<b>",
        "<b a='",
        "<A b={{\n",
    ),
    *(
        "{a}",
        "[a]: b\n",
        "[a][b]",
        "![a](b) ",
        "[a](b(c) ",
        "__a_",
        "~~a",
        "***a**",
        "&amp;",
        "$a$",
    ),
    *("\t- a\n", "a\n\n", "a b c. ", "/// note\n", "::: x [y\n", "---\na: b\n---\n", "<script>\n"),
    *("<details>\n<summary>", "<T x={`\n", "> [!NOTE]\n", "## [a](\n", "## `a\n", "1. 1. 1. "),
]
PAGES = {
    **{repr(atom): atom * (SIZE // len(atom)) for atom in ATOMS},
    "nested list": "\n".join(" " * (2 * n) + "- x" for n in range(440)),
    "nested quote": "\n".join(">" * n + " x" for n in range(600)),
    "long quote mark": ">" * 100_000 + " text",
    "fences": "\n".join("`" * (3 + n % 90) for n in range(4_000)),
    "equal headings": "# foo_3\n\n" * 20_000,
}


@pytest.mark.parametrize("name", PAGES)
def test_hostile_markdown_is_split_in_linear_time(name: str) -> None:
    text = PAGES[name]
    for file in ("a.mdx", "a.md"):
        begin = time.thread_time()
        page = read_page(BOOK, file, text.encode())
        assert isinstance(page, Page)
        made = chunk_page(BOOK, page, max_tokens=256, count_tokens=estimate, identity=LessonKeys())
        spans(text)
        assert time.thread_time() - begin < SECONDS
        assert check_chunks(made.chunks, {file: text}) == []
        assert max((len(chunk.text) for chunk in made.chunks), default=0) < 20_000


def test_a_title_of_many_pages_is_not_repeated_in_every_chunk() -> None:
    title = "word " * 4_000
    text = f"{title}\n===\n\n" + "## a\n\nSome words of text here.\n\n" * 200
    page = read_page(BOOK, "a.md", f"---\ntitle: {title}\n---\n{text}".encode())
    assert isinstance(page, Page)
    made = chunk_page(BOOK, page, max_tokens=256, count_tokens=estimate, identity=LessonKeys())
    assert check_chunks(made.chunks, {"a.md": page.source}) == []
    assert max(len(chunk.breadcrumb) for chunk in made.chunks) < 700
    assert sum("word word" in said.partition("\n")[2] for said in made.embedded) > 10


@pytest.mark.parametrize("atom", DOUBLED)
def test_twice_the_page_takes_at_most_twice_the_steps(atom: str) -> None:
    def steps(size: int) -> int:
        data = (atom * (size // len(atom))).encode()
        count = 0

        def count_call(_frame: object, event: str, _argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(count_call)
        try:
            page = read_page(BOOK, "a.mdx", data)
            assert isinstance(page, Page)
            chunk_page(BOOK, page, max_tokens=256, count_tokens=estimate, identity=LessonKeys())
        finally:
            sys.setprofile(None)
        return count

    assert steps(SIZE) < 2.5 * steps(SIZE // 2)


def test_hostile_restructured_text_and_plain_text() -> None:
    for atom in ("`", "*", "|", "_", "=\n", "..\n", "- ", "::\n\n x\n", ".. a::\n", "a\n=\n"):
        for file in ("a.rst", "a.txt"):
            text = atom * (SIZE // len(atom))
            begin = time.thread_time()
            page = read_page(BOOK, file, text.encode())
            assert isinstance(page, Page)
            made = chunk_page(
                BOOK, page, max_tokens=256, count_tokens=estimate, identity=LessonKeys()
            )
            assert time.thread_time() - begin < SECONDS
            assert check_chunks(made.chunks, {file: text}) == []


def test_a_notebook_of_brackets_is_rejected_fast() -> None:
    begin = time.thread_time()
    with pytest.raises(PageRejected):
        read_page(BOOK, "a.ipynb", b"[" * SIZE)
    assert time.thread_time() - begin < SECONDS
