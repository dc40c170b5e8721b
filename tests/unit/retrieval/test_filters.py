from __future__ import annotations

from typing import Any

import pytest

from quire.errors import InvalidRequest
from quire.models import Filters
from quire.retrieval.filters import parse_filters


def test_a_string_or_a_list_means_any_of() -> None:
    assert parse_filters({"page_title": "A"}).page_title == ("A",)
    assert parse_filters({"page_title": ["A", "B"]}).page_title == ("A", "B")


def test_numbers_may_come_as_text() -> None:
    assert parse_filters({"hardware_tier": "2"}).hardware_tier == 2


def test_chapter_is_both_ends_of_the_range() -> None:
    assert parse_filters({"chapter": 3}) == Filters(chapter_min=3, chapter_max=3)


@pytest.mark.parametrize(
    "values",
    [
        {"colour": "red"},
        {"hardware_tier": "two"},
        {"hardware_tier": True},
        {"page_title": []},
        {"page_title": [1]},
        {"module": ""},
        {"chapter_min": 4, "chapter_max": 2},
    ],
)
def test_nothing_is_silently_ignored(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_filters(values)
    assert caught.value.field is not None
    assert caught.value.field.startswith("filters.")


def test_applied_filters_echo_only_what_was_set() -> None:
    assert parse_filters({"module": "ros2", "page_title": ["A"]}).applied() == {
        "module": "ros2",
        "page_title": ["A"],
    }
    assert parse_filters(None).applied() == {}
