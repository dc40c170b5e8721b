"""Where a selection stands in the stored source."""

from __future__ import annotations

import pytest

from quire.answering import places
from quire.models import Chunk
from tests.chunks import make_chunk

SOURCE = """## Reliability

**Best effort** sends a message [once](../delivery.md "how often") and does *not* wait.

1. A `queue` of `depth` 10
2. Then the `Node_Handle`

:::note
Two nodes &mdash; one bus 🤖.
:::
"""


def page() -> list[Chunk]:
    """The source as two chunks that begin on line 9, behind 200 characters of front matter."""
    cut = SOURCE.index("1. A")
    head = SOURCE[:cut].rstrip("\n")
    return [
        make_chunk(
            text=text,
            char_start=200 + start,
            char_end=200 + start + len(text),
            line_start=9 + SOURCE.count("\n", 0, start),
            page_title="Quality of service",
        )
        for text, start in ((head, 0), (SOURCE[cut:], cut))
    ]


@pytest.mark.parametrize(
    "selected",
    [
        "Best effort sends a message once and does not wait.",
        "sends a message once",
        "once and does not wait.\nA queue of depth 10\nThen the Node_Handle",
        "note\nTwo nodes — one bus 🤖.",
        "Two nodes — one bus",
        "Quality of service\nReliability\nBest effort",
    ],
)
def test_words_as_the_page_shows_them_are_found(selected: str) -> None:
    found = places.by_words(page(), selected)
    assert found is not None
    first, last = selected.split()[0], selected.rstrip(".🤖 ").split()[-1]
    if first != "Quality":
        assert SOURCE[found.char_start - 200 :].startswith(first)
    assert SOURCE[: found.char_end - 200].rstrip(".🤖 ").endswith(last)


@pytest.mark.parametrize(
    "selected",
    [
        "Best effort sends a message once and does wait.",
        "Best effort sends a message twice",
        "does not wait. Best effort",
        "a queue of depth 100",
        "🤖 …",
        "",
    ],
)
def test_other_words_are_not(selected: str) -> None:
    assert places.by_words(page(), selected) is None


def test_lines_and_offsets_are_those_of_the_file() -> None:
    selected = "A queue of depth 10\nThen the Node_Handle"
    found = places.by_words(page(), selected)
    assert found is not None
    assert (found.line_start, found.line_end) == (13, 14)
    start = 200 + SOURCE.index("A `queue`")
    assert found.char_start == start
    exact = SOURCE[start - 200 : found.char_end - 200]
    assert places.at_offsets(page(), exact, start, found.char_end) == found


def test_exact_offsets_hold_across_chunks_and_nowhere_else() -> None:
    start = SOURCE.index("wait.")
    end = SOURCE.index(" `queue`")
    text = SOURCE[start:end]
    assert places.at_offsets(page(), text, 200 + start, 200 + end) is not None
    assert places.at_offsets(page(), text, 201 + start, 201 + end) is None
    assert places.at_offsets(page(), text, start, end) is None
    assert places.at_offsets(page(), text.replace("A", "B"), 200 + start, 200 + end) is None
    assert places.at_offsets(page(), text[:-1], 200 + start, 200 + end) is None
