from __future__ import annotations

import json

import pytest

from quire.answering.prompt import Fence, fence_tool_output, passages_block
from quire.models import Passage
from tests.chunks import make_chunk

PLACES = [
    ("Nodes", "Callbacks", "[3] Nodes / Callbacks"),
    ("Nodes", None, "[3] Nodes"),
    ("Nodes", "Nodes", "[3] Nodes"),
    ("Nodes\nand\u200b topics", "A\tb", "[3] Nodes and topics / A b"),
]


@pytest.mark.parametrize(("page", "section", "line"), PLACES)
def test_a_passage_stands_below_its_number_and_place(
    page: str, section: str | None, line: str
) -> None:
    fence = Fence()
    chunk = make_chunk("A node is a process.", page_title=page, section_title=section)
    block = passages_block([Passage(number=3, chunk=chunk, score=0.5, cosine=0.5)], fence)
    assert block == f"{fence.begin}\n{line}\nA node is a process.\n{fence.end}"
    found = {
        "rank": 3,
        "page_title": page,
        "section_heading": section,
        "chunk_text": "A node is a process.",
    }
    told = fence_tool_output(json.dumps({"results": [found]}), fence)
    assert told == f"{block}\nReply with the JSON segments."


def test_what_the_text_says_cannot_end_the_passages() -> None:
    first, second = Fence(), Fence()
    assert first.end != second.end
    assert fence_tool_output("not JSON", first) == first.wrap("not JSON")
