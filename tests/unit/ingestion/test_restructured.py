from __future__ import annotations

from pathlib import Path

import pytest

from quire.books import Book
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.invariants import check_chunks
from quire.ingestion.pages import Page, read_page
from quire.ingestion.restructured import restructured_words, scan_restructured
from quire.ingestion.splitting import chunk_page

PAGE = """\
.. _top:

==========
Main title
==========

Intro with enough words to stand alone as a chunk of text.

First section
-------------

.. note:: Be careful

   Inside the note there are words.

.. code-block:: python
   :linenos:

   def f():
       return 1

Example::

    literal # text

    more

* item one
  continued
* item two

.. toctree::
   :maxdepth: 1

   a

Deeper
~~~~~~

.. image:: a.png
   :alt: A robot arm

====  ====
A     B
====  ====
1     2
====  ====

Second section
--------------

>>> 1 + 1
2

Done with all of this, and more words here.
"""


def test_blocks_are_found_with_their_kinds() -> None:
    found = [(block.kind, block.info) for block in scan_restructured(PAGE)]
    assert found == [
        ("definition", ""),
        ("heading", "Main title"),
        ("paragraph", ""),
        ("heading", "First section"),
        ("admonition", "Note"),
        ("paragraph", ""),
        ("paragraph", ""),
        ("code", "python"),
        ("paragraph", ""),
        ("code", ""),
        ("item", ""),
        ("item", ""),
        ("comment", ""),
        ("heading", "Deeper"),
        ("admonition", "A robot arm"),
        ("code", ""),
        ("heading", "Second section"),
        ("code", ""),
        ("paragraph", ""),
    ]


def test_levels_follow_the_order_of_the_adornments() -> None:
    levels = [block.level for block in scan_restructured(PAGE) if block.kind == "heading"]
    assert levels == [1, 2, 3, 2]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (":ref:`a thing <x-y>` and :py:class:`~a.B`", "a thing and a.B"),
        ("``code`` and `link <http://x.y>`_ and `name`_", "code and link and name"),
        ("**bold** *it* |sub| note [1]_ word_", "bold it sub note word"),
        ("Example::", "Example:"),
        ("a\\ b", "ab"),
    ],
)
def test_inline_markup_is_undone(text: str, plain: str) -> None:
    assert restructured_words(text) == plain


def test_pages_are_split_with_exact_slices() -> None:
    book = Book(id="b", title="B", root=Path("/b"))
    page = read_page(book, "guide/a.rst", PAGE.encode())
    assert isinstance(page, Page)
    made = chunk_page(book, page, max_tokens=256, count_tokens=estimate, identity=LessonKeys())
    assert check_chunks(made.chunks, {"guide/a.rst": PAGE}) == []
    assert made.chunks[1].source_url == "/guide/a.html#first-section"
    assert "python\ndef f():\n    return 1" in made.embedded[1]
    assert "code-block" not in made.embedded[1]


def test_docutils_sees_the_same_sections() -> None:
    core = pytest.importorskip("docutils.core")
    nodes = pytest.importorskip("docutils.nodes")
    text = PAGE.replace(".. toctree::\n   :maxdepth: 1\n\n   a\n\n", "")
    tree = core.publish_doctree(
        text, settings_overrides={"report_level": 5, "doctitle_xform": False}
    )
    expected = [title.astext() for title in tree.findall(nodes.title)]
    found = [block.info for block in scan_restructured(text) if block.kind == "heading"]
    assert found == expected
