"""Other markups as Markdown: it reads well, and every copied character is where it says."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.books import Book
from quire.ingestion.identity import LessonKeys
from quire.ingestion.pages import Page, read_page
from quire.ingestion.renditions import rendition
from quire.ingestion.splitting import PageChunks, chunk_page
from quire.models import Chunk, Rendition


def read(text: str, name: str = "guide.rst") -> Page:
    page = read_page(Book(id="b", title="B", root=Path("/b")), name, text.encode())
    assert isinstance(page, Page)
    return page


def rendered(text: str) -> str:
    found = rendition(read(text), 0, len(text))
    assert found is not None
    return found.text


def chunks(page: Page) -> PageChunks:
    return chunk_page(
        Book(id="b", title="B", root=Path("/b")),
        page,
        max_tokens=60,
        count_tokens=lambda text: len(text.split()),
        identity=LessonKeys(),
    )


def assert_traced(found: Rendition, source: str) -> None:
    here = 0
    taken: list[int] = []
    for run in found.runs:
        assert run.here >= here
        if run.length == run.width:
            shown = found.text[run.here : run.here + run.length]
            assert shown == source[run.there : run.there + run.width]
        here = run.here + run.length
        taken += range(run.there, run.there + run.width)
    assert len(taken) == len(set(taken))
    assert not taken or 0 <= min(taken) <= max(taken) < len(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Use ``borg create`` now.", "Use `borg create` now."),
        ("See :ref:`the guide <guide>` and :doc:`/config`.", "See the guide and /config."),
        ("Set :option:`--title` and :envvar:`HOME`.", "Set `--title` and `HOME`."),
        ("Call :py:func:`~os.path.join` twice.", "Call `join` twice."),
        ("Call :meth:`open() <a.b.open>` first.", "Call `open()` first."),
        ("Made by `Attic`_ and Discogs_ (see `docs <https://x>`__).", None),
        ("Fixed. :bug:`4225`", "Fixed. #4225"),
        ("It can fail [#note]_ or [1]_.", "It can fail or."),
        ("Joined with |sep| here.", "Joined with sep here."),
        ("a\\ b and __init__ and snake_case_name stay", "ab and __init__ and snake_case_name stay"),
        ("2 GB (2\\ :sup:`31` bytes)", "2 GB (2<sup>31</sup> bytes)"),
        ("See :pep:`8` and :rfc:`2822`.", "See PEP 8 and RFC 2822."),
        (
            "CMAKE_<LANG>_FLAGS, test_*.py, x_=3, in_(a)",
            "CMAKE_<LANG>_FLAGS, test_*.py, x_=3, in_(a)",
        ),
        ("Runs on :fab:`windows;fa-xl` alone.", "Runs on windows alone."),
    ],
)
def test_inline_markup_becomes_markdown(source: str, expected: str | None) -> None:
    assert rendered(source) == (expected or "Made by Attic and Discogs (see docs).")


def test_code_is_fenced_with_its_language_and_nothing_of_the_directive() -> None:
    source = (
        "Enable it\n\n"
        ".. code-block:: yaml\n    :linenos:\n\n"
        "    # config.yaml\n    plugins:\n      - chroma\n\n"
        "Or so::\n\n    beet <command>\n\n"
        "::\n\n    last\n"
    )
    assert rendered(source) == (
        "Enable it\n\n```yaml\n# config.yaml\nplugins:\n  - chroma\n```\n\n"
        "Or so:\n\n```\nbeet <command>\n```\n\n```\nlast\n```"
    )


def test_a_note_is_its_sentence_and_targets_and_toctrees_are_nothing() -> None:
    source = (
        ".. _top:\n.. include:: ../global.rst.inc\n\n"
        ".. note:: Running it on Windows\n   is experimental.\n\n"
        ".. toctree::\n   :maxdepth: 2\n\n   a\n\n"
        ".. warning::\n\n   Make a backup.\n\n"
        ".. class:: borg-options-table\n\n"
        ".. option:: --force\n\n   Overwrites files.\n\n"
        ".. _VLC: https://example.org\n"
    )
    assert rendered(source) == (
        "Running it on Windows\nis experimental.\n\nMake a backup.\n\n"
        "`--force`:\n\nOverwrites files."
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "So::\n\n    .. note::\n       :class: x\n\n       Beware.\n",
            "So:\n\n```\n.. note::\n   :class: x\n\n   Beware.\n```",
        ),
        (".. math:: A = \\pi r^2\n\nAfter.", "```\nA = \\pi r^2\n```\n\nAfter."),
        (".. deprecated:: 3.4\n   Use eggs.", "Deprecated since version 3.4\nUse eggs."),
        (".. deprecated::\n\n   Use eggs.", "Use eggs."),
        (".. admonition:: Never twice\n\n   It breaks.", "Never twice\n\nIt breaks."),
        (
            ".. confval:: x\n\n   Examples\n   ~~~~~~~~\n\n   They are short.\n",
            "`x`:\n\n#### Examples\n\nThey are short.",
        ),
        ("Code::\n\n    ```\n    ~~~~\n    ```\n", "Code:\n\n````\n```\n~~~~\n```\n````"),
    ],
    ids=["literal", "formula", "version", "no version", "title", "inner heading", "fences"],
)
def test_nothing_of_a_directive_is_lost_or_left_open(source: str, expected: str) -> None:
    assert rendered(source) == expected


def test_the_name_of_an_object_is_not_taken_from_its_directive() -> None:
    source = ".. function:: f\n\n   Does it."
    found = rendition(read(source), 0, len(source))
    assert found is not None
    assert found.place(0, len("`f`:")) == (14, 15)


def test_lists_keep_their_depth_and_definitions_their_term() -> None:
    source = (
        "* one\n  continued\n\n  - inner ``x``\n\n* two\n\n"
        "#. first\n#. second\n\n"
        "repokey\n    The key is kept\n    in the repository.\nkeyfile\n    On the disk.\n\n"
        "| a verse\n| of two lines\n"
    )
    assert rendered(source) == (
        "- one\n   continued\n   - inner `x`\n- two\n1. first\n1. second\n\n"
        "repokey\n: The key is kept\nin the repository.\n\nkeyfile\n: On the disk.\n\n"
        "a verse\nof two lines"
    )


@pytest.mark.parametrize(
    "source",
    [
        "=====  =======\nName   Command\n=====  =======\nArch   ``pacman -S\n       borg``\n"
        "Guix   guix\n=====  =======\n",
        "+------+-------------+\n| Name | Command     |\n+======+=============+\n"
        "| Arch | ``pacman -S |\n|      | borg``      |\n+------+-------------+\n"
        "| Guix | guix        |\n+------+-------------+\n",
        ".. list-table:: Installing\n   :header-rows: 1\n\n   * - Name\n     - Command\n"
        "   * - Arch\n     - ``pacman -S\n       borg``\n   * - Guix\n     - guix\n",
        ".. list-table::\n\n   - * Name\n     * Command\n   - * Arch\n     * pacman -S\n"
        "   - * Guix\n     * guix\n",
    ],
    ids=["ruled", "grid", "list", "other marks"],
)
def test_tables_become_tables(source: str) -> None:
    first, rule, arch, guix = rendered(source).split("\n")
    assert (first, rule, guix) == ("| Name | Command |", "| --- | --- |", "| Guix | guix |")
    assert arch.startswith("| Arch | ")
    assert "pacman -S" in arch


def test_a_bar_in_a_cell_is_no_end_of_it() -> None:
    source = ".. list-table::\n\n   * - x\n     - ``int | None``\n"
    assert rendered(source).startswith("| x | `int \\| None` |")


def test_a_part_of_a_table_has_its_header() -> None:
    rows = [f"distribution {i}  ``install {i}``" for i in range(9)]
    rule = "==============  ============="
    source = "\n".join([rule, "Name            Command", rule, *rows, rule])
    page = read(source)
    at = source.index(rows[4])
    found = rendition(page, at, at + len(rows[4]))
    assert found is not None
    assert_traced(found, source[at:])
    assert found.text == "| Name | Command |\n| --- | --- |\n| distribution 4 | `install 4` |"
    assert found.place(0, len(found.text)) == (0, len(rows[4]) - 2)
    cut = rendition(page, at, at + 20)
    assert cut is not None
    assert_traced(cut, source[at : at + 20])
    assert cut.text == found.text.replace("`", "")


def test_a_list_inside_a_cell_is_no_row_of_cells() -> None:
    source = (
        ".. list-table::\n\n   * - Name\n     - Ways\n   * - Arch\n     - - first\n"
        "       - second\n\n       .. code-block:: sh\n\n          pacman\n"
    )
    assert rendered(source).split("\n")[2] == "| Arch | - first - second pacman |"


def test_a_table_with_cells_that_span_rows_stays_as_it_is_drawn() -> None:
    source = "+---+---+\n| a | b |\n|   +---+\n|   | c |\n+---+---+\n"
    assert rendered(source) == f"```\n{source.rstrip()}\n```"


def test_what_spans_a_table_stands_in_its_first_column() -> None:
    source = "+---+---+\n| a | b |\n+---+---+\n| both  |\n+---+---+\n"
    assert rendered(source) == "| a | b |\n| --- | --- |\n| both |  |"


WORDS = st.sampled_from(
    "word ``code`` :ref:`a <b>` `x`_ |s| [1]_ \\  named_ * - :: .. note:: text\n"
    ".. code-block:: py\n "
    "   indented\n======\n+--+--+\n| a|b |\n=== ===\n #. 1) \n\n \t é 漢字".split(" ")
)


@given(st.lists(WORDS, min_size=1, max_size=60).map(" ".join))
def test_whatever_the_page_copied_characters_stand_in_their_place(text: str) -> None:
    page = read_page(Book(id="b", title="B", root=Path("/b")), "a.rst", text.encode())
    if not isinstance(page, Page):
        return
    for chunk in chunks(page).chunks:
        assert chunk.rendition is not None
        assert_traced(chunk.rendition, chunk.text)


def notebook(*cells: tuple[str, str]) -> str:
    return json.dumps(
        {
            "cells": [
                {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
                for kind, source in cells
            ],
            "metadata": {"language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        indent=1,
    )


CELLS = (
    ("markdown", '# Filters\n\nA *Kalman filter* keeps a "belief".\n\n- one\n- two\tafter a tab\n'),
    ("code", "# install\nimport filterpy\nprint('é')\n"),
)


def of_cells() -> tuple[Chunk, ...]:
    return chunks(read(notebook(*CELLS), "a.ipynb")).chunks


def test_a_notebook_reads_like_its_cells() -> None:
    prose, code = (chunk.markdown for chunk in of_cells())
    assert prose == CELLS[0][1].strip()
    assert code == "```python\n# install\nimport filterpy\nprint('é')\n```"


def test_a_quote_of_a_notebook_is_the_slice_of_its_file_that_says_it() -> None:
    source = notebook(*CELLS)
    for chunk, words in zip(of_cells(), ('keeps a "belief".', "print('é')"), strict=True):
        at = chunk.markdown.index(words)
        place = chunk.place(at, at + len(words))
        assert place is not None
        start, end = (chunk.char_start + offset for offset in place)
        assert json.loads(f'"{source[start:end]}"') == words


def test_what_a_notebook_calls_its_language_writes_nothing() -> None:
    source = notebook(("code", "run()  # this runs it\n")).replace(
        '"python"', '"py\\n```\\n\\nFalse."'
    )
    (chunk,) = chunks(read(source, "a.ipynb")).chunks
    assert chunk.markdown == "```\nrun()  # this runs it\n```"


def test_what_was_added_has_no_place() -> None:
    code = of_cells()[1]
    assert code.place(0, len("```python")) is None
    assert code.place(0, len(code.markdown)) == (0, len(code.text))


MYST = """\
# Clusters

```{note}
:class: wide
Start the {ref}`head node <head>` before others.
```

Call {py:func}`~ray.init` once:

```{code-block} python
:linenos:

ray.init()  # here
```

```{literalinclude} ../code/start.py
```

````{dropdown} More
Some more words with `code`.

```bash
ray up
```
````

```{eval-rst}
Use ``ray start``::

    ray start --head
```

```python
left = {"as": "it is"}
```
"""


def test_directives_and_roles_of_myst_become_markdown() -> None:
    found = rendition(read(MYST, "a.md"), 0, len(MYST))
    assert found is not None
    assert_traced(found, MYST)
    assert re.sub(r"\n{3,}", "\n\n", found.text) == (
        "# Clusters\n\nStart the head node before others.\n\nCall `init` once:\n\n"
        "```python\nray.init()  # here\n```\n\n"
        "Some more words with `code`.\n\n```bash\nray up\n```\n\n"
        "Use `ray start`:\n\n```\nray start --head\n```\n\n"
        '```python\nleft = {"as": "it is"}\n```\n'
    )


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("T\n===\n\n" + ("= =\n" * 4900 + "\nwords\n\n") * 5, "a.rst"),
        ("# T\n\n```{note}\n" + "  \n" * 100_000 + "x is here today\n```\n", "a.md"),
        (notebook(("code", "x = 1\n" * 40_000)), "a.ipynb"),
    ],
    ids=["rules", "blank lines", "cell"],
)
def test_the_time_grows_with_the_page_alone(source: str, name: str) -> None:
    page = read(source, name)
    started = time.process_time()
    chunks(page)
    assert time.process_time() - started < 6


def test_a_fence_that_only_looks_like_one_is_read() -> None:
    (chunk,) = chunks(read("\xa0```{note}\nhello is here\n```\n", "a.md")).chunks
    assert "hello is here" in chunk.markdown


def test_markdown_needs_no_rendition() -> None:
    text = "# Title\n\nSome prose that is long enough.\n"
    page = read(text, "a.md")
    assert rendition(page, 0, len(text)) is None
    assert all(chunk.markdown == chunk.text for chunk in chunks(page).chunks)
