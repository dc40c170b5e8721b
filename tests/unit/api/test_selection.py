"""Where a selection came from is checked against the stored source."""

from __future__ import annotations

from typing import Any

import pytest

from tests.service import PAGE, Service

SELECTED = "The rover needs a battery of 24 volts."
START = PAGE.index(SELECTED)
END = START + len(SELECTED)
IN_FILE: dict[str, Any] = {"source_file": "guide.md", "char_start": START, "char_end": END}
ON_PAGE: dict[str, Any] = {
    "page_url": "https://rover.example/guide?from=search#battery",
    "char_start": 120,
    "char_end": 120 + len(SELECTED),
}


def asked(selection: dict[str, Any], text: str = SELECTED) -> dict[str, Any]:
    return {
        "query": "How many volts?",
        "mode": "selected_text",
        "selected_text": text,
        "selection": selection,
    }


@pytest.mark.parametrize("place", [IN_FILE, ON_PAGE])
async def test_a_true_place_is_found_in_the_file(service: Service, place: dict[str, Any]) -> None:
    answer = (await service.client.post("/chat", json=asked(place))).raise_for_status().json()
    found = answer["selection_source"]
    assert PAGE[found["char_start"] : found["char_end"]].rstrip(".") == SELECTED.rstrip(".")
    assert (found["source_file"], found["section_heading"]) == ("guide.md", "Battery")
    assert found["source_url"] == "https://rover.example/guide#battery"
    assert found["line_start"] == found["line_end"] == PAGE.count("\n", 0, START) + 1
    # what is cited still stands in the selection
    source = answer["sources"][0]
    assert source["source_url"] == "selected_text"
    assert SELECTED[source["char_start"] : source["char_end"]] == source["quote"]


@pytest.mark.parametrize(
    ("place", "text", "field"),
    [
        ({**IN_FILE, "char_start": START + 1, "char_end": END + 1}, SELECTED, ""),
        ({**IN_FILE, "source_file": "other.md"}, SELECTED, ".source_file"),
        ({**IN_FILE, "source_file": "../guide.md"}, SELECTED, ".source_file"),
        ({**IN_FILE, "char_end": END + 1}, SELECTED, ".char_end"),
        (ON_PAGE, SELECTED.replace("24", "42"), ""),
        ({**ON_PAGE, "page_url": "https://rover.example/other"}, SELECTED, ".page_url"),
        ({**ON_PAGE, "page_url": "https://evil.example/guide"}, SELECTED, ".page_url"),
        ({**ON_PAGE, "page_url": "http://[broken"}, SELECTED, ".page_url"),
    ],
)
async def test_a_false_place_is_refused(
    service: Service, place: dict[str, Any], text: str, field: str
) -> None:
    refused = await service.client.post("/chat", json=asked(place, text))
    assert refused.status_code == 422, refused.text
    problem = refused.json()
    assert (problem["error_code"], problem["details"]["field"]) == (
        "validation_error",
        f"selection{field}",
    )


async def test_one_place_not_two_and_not_none(service: Service) -> None:
    for place in ({"char_start": 0, "char_end": 1}, {**IN_FILE, **ON_PAGE}):
        refused = await service.client.post("/chat", json=asked(place))
        assert refused.status_code == 422
        assert "source_file or page_url" in refused.json()["message"]
