"""Tables read aloud: every word at its place in the source."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from quire.reading import as_readable
from quire.reading.model import ReaderModel
from quire.reading.tables import spoken

RATES = """\
How fast each loop runs:

| Loop | Rate | Unit |
|:-----|-----:|------|
| Joint control | 100–1,000 | Hz |
| Planning | 1 \\| 2 | |
|  | 5 | Hz |

The rest is slower.
"""


def words(source: str) -> list[tuple[str, str]]:
    """Every word that is said, with what stands at its place."""
    said = spoken(source)
    assert said is not None
    offsets = np.array([m.span() for m in re.finditer(r"[^\s.:;]+", said.text)], np.int32)
    places = said.places(offsets)
    assert (np.diff(places[:, 0]) >= 0).all(), "in the order of the source"
    return [(said.text[a:b], source[c:d]) for (a, b), (c, d) in zip(offsets, places, strict=True)]


def test_each_row_is_said_with_the_names_of_its_columns() -> None:
    said = spoken(RATES)
    assert said is not None
    assert said.text == (
        "How fast each loop runs:\n\n"
        "Joint control: Rate is 100–1,000; Unit is Hz.\n"
        "Planning: Rate is 1 \\| 2.\n"
        "Rate is 5: Unit is Hz.\n"
        "\nThe rest is slower.\n"
    )


def test_what_is_copied_stands_at_its_place_and_what_is_added_nowhere() -> None:
    found = words(RATES)
    assert ("100–1,000", "100–1,000") in found
    assert ("slower", "slower") in found
    assert ("Rate", "") in found
    assert all(there in ("", here) for here, there in found)


def test_tables_without_outer_marks_and_in_quotes_are_read_too() -> None:
    assert ("2", "2") in words("A | B\n--- | ---\n1 | 2")
    assert ("B", "") in words("> | A | B |\n> |---|---|\n> | 1 | 2 |\n")


def test_a_text_without_a_table_is_read_as_it_is() -> None:
    assert spoken("a | b\n\nA dash -- and a | mark.\n") is None
    assert spoken("| 1 | 2 |\n| 3 | 4 |\n") is None, "rows whose header is elsewhere"


@given(st.lists(st.sampled_from(["|", "-", ":", "\\", "\n", "a", " ", ">", "|--|--|\n", "| x "])))
def test_any_text_keeps_its_places(parts: list[str]) -> None:
    source = "".join(parts) + "\n| h | g |\n|---|---|\n" + "".join(parts)
    said = spoken(source)
    if said is not None and said.text:
        offsets = np.array([(i, i + 1) for i in range(len(said.text))], np.int32)
        for (at, _), (start, end) in zip(offsets, said.places(offsets), strict=True):
            assert 0 <= start <= end <= len(source)
            assert source[start:end] in ("", said.text[at])


async def test_the_reader_finds_the_row_and_marks_the_cell() -> None:
    reader = ReaderModel()
    text = (
        "| Release | Ubuntu | End of support |\n|---|---|---|\n"
        "| Humble | 22.04 | May 2027 |\n| Jazzy | 24.04 | May 2029 |\n"
    )
    try:
        (reading,) = await reader.read(
            "When does support for Jazzy end?", [as_readable(text, "ROS 2 releases")]
        )
    finally:
        await reader.close()
    rows = [(text.index(row), text.index(row) + len(row)) for row in text.splitlines()[2:]]
    humble, jazzy = (reading.of(*row) for row in rows)
    assert humble is not None
    assert jazzy is not None
    assert jazzy.mean + jazzy.span > humble.mean + humble.span
    assert text[slice(*jazzy.answer)] == "May 2029"
