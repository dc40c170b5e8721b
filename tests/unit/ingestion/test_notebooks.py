from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quire.books import Book
from quire.errors import PageRejected
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.invariants import check_chunks
from quire.ingestion.pages import Page, read_page
from quire.ingestion.splitting import PageChunks, chunk_page

BOOK = Book(id="b", title="B", root=Path("/b"))
NOTEBOOK: dict[str, Any] = {
    "cells": [
        {
            "cell_type": "markdown",
            "metadata": {"source": "not this"},
            "source": [
                '# A "quoted" title 😀\n',
                "\n",
                "Ten words of *prose* are in this very first cell.",
            ],
        },
        {"cell_type": "markdown", "metadata": {}, "source": "## Load é data"},
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [{"output_type": "stream", "text": ["OUTPUT\n"]}],
            "source": 'import pandas as pd\nprint("a\\tb")',
        },
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": []},
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 4,
}


def split(source: str) -> PageChunks:
    page = read_page(BOOK, "a.ipynb", source.encode())
    assert isinstance(page, Page)
    return chunk_page(BOOK, page, max_tokens=256, count_tokens=estimate, identity=LessonKeys())


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("indent", [None, 1])
def test_chunks_are_slices_of_the_file_and_embedded_unescaped(
    ascii_only: bool, indent: int | None
) -> None:
    source = json.dumps(NOTEBOOK, ensure_ascii=ascii_only, indent=indent)
    made = split(source)
    assert check_chunks(made.chunks, {"a.ipynb": source}) == []
    assert made.embedded == (
        'A "quoted" title 😀\nTen words of prose are in this very first cell.',
        'A "quoted" title 😀 > Load é data\npython\nimport pandas as pd\nprint("a\\tb")',
    )
    assert made.chunks[1].text == 'import pandas as pd\\nprint(\\"a\\\\tb\\")'
    assert made.chunks[1].source_url == "/a.html#load-é-data"
    assert all("OUTPUT" not in chunk.text for chunk in made.chunks)


@pytest.mark.parametrize(
    ("source", "line"),
    [('{\n"cells": [}', 2), ("[]", 1), ('{"nbformat": 2, "worksheets": []}', 1)],
)
def test_other_files_are_rejected_with_their_line(source: str, line: int) -> None:
    with pytest.raises(PageRejected) as caught:
        split(source)
    assert caught.value.line == line


def test_deep_json_is_rejected() -> None:
    with pytest.raises(PageRejected, match="nested"):
        split("[" * 200_000)


def test_lone_surrogates_do_no_harm() -> None:
    source = json.dumps({**NOTEBOOK, "cells": []}).replace(
        '"cells": []',
        '"cells": [{"cell_type": "markdown", "source": "Some broken \\ud800 text here."}]',
    )
    made = split(source)
    assert made.embedded == ("A\nSome broken \ufffd text here.",)


OLD: dict[str, Any] = {
    "metadata": {"name": ""},
    "nbformat": 3,
    "nbformat_minor": 0,
    "worksheets": [
        {
            "cells": [
                {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["Robots"]},
                {"cell_type": "markdown", "metadata": {}, "source": ["Robots *move* by motors."]},
                {"cell_type": "heading", "level": 2, "metadata": {}, "source": ["Driving them"]},
                {
                    "cell_type": "code",
                    "collapsed": False,
                    "input": ["speed = 1\n", 'print("OK")'],
                    "language": "python",
                    "metadata": {},
                    "outputs": [{"output_type": "stream", "stream": "stdout", "text": ["OUT\n"]}],
                    "prompt_number": 1,
                },
            ],
            "metadata": {},
        }
    ],
}


def test_notebooks_of_format_3_are_read() -> None:
    source = json.dumps(OLD, indent=1)
    made = split(source)
    assert check_chunks(made.chunks, {"a.ipynb": source}) == []
    assert made.embedded == (
        "Robots\nRobots move by motors.",
        'Robots > Driving them\npython\nspeed = 1\nprint("OK")',
    )
    assert made.chunks[1].source_url == "/a.html#driving-them"


def test_nbformat_reads_the_same_cells_of_format_3() -> None:
    nbformat = pytest.importorskip("nbformat")
    source = json.dumps(OLD)
    cells = nbformat.reads(source, 4).cells
    page = read_page(BOOK, "a.ipynb", source.encode())
    assert isinstance(page, Page)
    expected = "\n\n".join(cell.source.lstrip("# ") for cell in cells)
    assert page.text.rstrip() == expected.rstrip()


def test_nbformat_reads_the_same_cells() -> None:
    nbformat = pytest.importorskip("nbformat")
    source = json.dumps(NOTEBOOK)
    expected = "\n\n".join(cell.source for cell in nbformat.reads(source, 4).cells)
    page = read_page(BOOK, "a.ipynb", source.encode())
    assert isinstance(page, Page)
    assert page.text.rstrip() == expected.rstrip()
