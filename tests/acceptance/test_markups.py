"""Books that aren't Markdown: answers read well all the same, and quote the file to the letter."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Terminal

pytestmark = pytest.mark.xdist_group("markups")

GUIDE = """\
.. _guide:
.. include:: global.rst.inc

Keeping bees
============

.. note:: Open the hive only
   on warm days.

A *queen excluder* is a grid that keeps the queen out of the :ref:`honey super <super>`. It is put
above the brood box with ``hive --exclude`` once the `spring flow`_ begins.

.. _super:

Setting up a hive
-----------------

To set up a hive, run the following command::

    # frames first
    hive init --frames 10 <location>

.. list-table:: Boxes
   :header-rows: 1

   * - Box
     - Weight when full
   * - Brood box
     - 40 kg
   * - Honey super
     - 18 kg

.. _spring flow: https://example.org/flow
"""
NOTEBOOK: dict[str, Any] = {
    "cells": [
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": [
                "# Swarms\n",
                "\n",
                'A *swarm* is a colony that leaves its hive with the old "queen".\n',
                "\n",
                "Count the swarms of a year like this:\n",
            ],
        },
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": ["# count swarms\n", "import swarms\n", "swarms.count(year=2026)\n"],
        },
    ],
    "metadata": {"language_info": {"name": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@dataclass(frozen=True)
class Bees:
    """The book, in a data folder of its own."""

    folder: Path
    terminal: Terminal

    def ask(self, question: str) -> dict[str, Any]:
        answer = self.terminal.json("ask", question)
        assert answer["should_answer"], answer
        for source in answer["sources"]:
            text = (self.folder / source["source_file"]).read_text()
            assert text[source["char_start"] : source["char_end"]] == source["quote"]
        return answer


@pytest.fixture(scope="module")
def bees(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Bees:
    place = tmp_path_factory.mktemp("markups")
    book = place / "bees"
    book.mkdir()
    (book / "guide.rst").write_text(GUIDE)
    (book / "swarms.ipynb").write_text(json.dumps(NOTEBOOK, indent=1))
    terminal = Terminal(place / "home", model_cache)
    terminal.json("ingest", str(book))
    return Bees(book, terminal)


def test_reStructuredText_is_said_without_its_markup(bees: Bees) -> None:
    said = bees.ask("What is a queen excluder?")
    assert "keeps the queen out of the honey super. [1]" in said["answer"]
    assert ":ref:`honey super <super>`" in said["sources"][0]["quote"]
    said = bees.ask("Where is the queen excluder put?")
    assert "`hive --exclude` once the spring flow begins." in said["answer"]


def test_a_literal_block_is_code_with_its_comments(bees: Bees) -> None:
    said = bees.ask("How do I set up a hive?")
    assert "```\n# frames first\nhive init --frames 10 <location>\n```" in said["answer"]
    assert "::" not in said["answer"]


def test_a_list_table_is_a_table(bees: Bees) -> None:
    said = bees.ask("How much does a full honey super weigh?")
    assert "| Honey super | 18 kg |" in said["answer"]


def test_a_notebook_is_said_without_its_json(bees: Bees) -> None:
    said = bees.ask("What is a swarm?")
    assert 'A *swarm* is a colony that leaves its hive with the old "queen". [1]' in said["answer"]
    assert said["sources"][0]["source_file"] == "swarms.ipynb"
    assert '\\"queen\\".' in said["sources"][0]["quote"]


def test_a_code_cell_is_code(bees: Bees) -> None:
    said = bees.ask("How do I count swarms?")
    assert (
        "```python\n# count swarms\nimport swarms\nswarms.count(year=2026)\n```" in said["answer"]
    )
