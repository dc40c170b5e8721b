from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from quire.evaluation.coverage import near_duplicates
from quire.evaluation.derivation import definitions, derive, heading_question
from quire.evaluation.links import broken_links
from quire.evaluation.outline import Outline, OutlinedSection
from quire.index.port import Point, SparseVector
from quire.testing.answering import make_chunk

FILLER = "These words are here so that the section is long enough to be asked about at all. "


def write(root: Path, **pages: str) -> Path:
    for name, text in pages.items():
        (root / f"{name}.md").write_text(text, encoding="utf-8")
    return root


def section(title: str, page: str = "Robots") -> OutlinedSection:
    return OutlinedSection("a.md", page, (title,), "x", 0, 10, 10)


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("What is a node?", "What is a node?"),
        ("3.2 Install the tools", "How do I install the tools?"),
        ("How to stop", "How do I stop?"),
        ("Summary", "Robots: Summary"),
        ("Quality of service", "What is Quality of service?"),
        ("Recording bags", "How does recording bags work?"),
        ("The difference between map and odom", "The difference between map and odom"),
    ],
)
def test_headings_become_questions(heading: str, question: str) -> None:
    assert heading_question(section(heading)) == question


def test_definitions_are_sentences_that_say_what_something_is() -> None:
    text = "A **topic** is a named channel. It is a good one.\n\n`rclpy` is the library."
    assert definitions(text) == ["topic", "rclpy"]


def test_each_section_of_some_length_is_asked_about(tmp_path: Path) -> None:
    outline = Outline(
        write(
            tmp_path,
            a=(
                f"# Robots\n\n{FILLER}\n\n## Nodes\n\nA node is a process. {FILLER}\n\n"
                "## Tiny\n\nNo.\n"
            ),
        )
    )
    page = outline.page("a.md")
    assert page is not None
    asked = [question.text for question in derive(page, outline.sections("a.md"))]
    assert asked == ["What is Robots?", "What is Nodes?", "What is node?"]


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        a=(
            "# A\n\n[ok](b.md) [ok](b.md#there) [ok](./b) [ok](#part) [ok](https://example.org/x)\n"
            "[gone](c.md) [anchor](b.md#missing) ![picture](img/none.png)\n\n## Part\n\n"
            "`[code](nowhere.md)`\n\n```\n[code](nowhere.md)\n```\n"
        ),
        b='# B\n\n## There\n\n<a id="spot"></a> [ok](a.md#part) [ok](#spot)\n',
    )
    found = broken_links(Outline(root), root)
    assert [(link.source_file, link.line, link.target) for link in found] == [
        ("a.md", 4, "c.md"),
        ("a.md", 4, "b.md#missing"),
        ("a.md", 4, "img/none.png"),
    ]


def test_sections_that_say_the_same_are_paired_once(tmp_path: Path) -> None:
    text = FILLER * 3
    page = f"# P\n\n## One\n\n{text}\n\n## Two\n\nOther.\n"
    outline = Outline(write(tmp_path, a=page, b=page))
    points = [
        Point(
            make_chunk(text.strip(), source=page, source_file=name),
            np.array([1.0, 0.0], dtype=np.float32),
            SparseVector((), ()),
        )
        for name in ("a.md", "b.md")
    ]
    (pair,) = near_duplicates(points, outline)
    assert (pair.first, pair.second, pair.cosine) == ("a.md#one", "b.md#one", 1.0)
