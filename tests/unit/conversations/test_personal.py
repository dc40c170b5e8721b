"""Personal data with a form is found; what only looks like it is left alone."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.conversations.personal import find, redact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write to jane.doe+x@mail.example.org, please", "Write to [email], please"),
        ("My card 4111 1111 1111 1111 fails", "My card [card] fails"),
        ("IBAN DE89 3704 0044 0532 0130 00?", "IBAN [iban]?"),
        ("gb82west12345698765432", "[iban]"),
        ("SSN 536-90-4399", "SSN [ssn]"),
        ("from 8.8.8.8 and 2606:4700:4700::1111", "from [ip] and [ip]"),
        ("Call +44 20 7946 0958 or (541) 754-3010", "Call [phone] or [phone]"),
        ("0341 8387176 / 0496 46 46 70", "[phone] / [phone]"),
    ],
)
def test_what_is_personal_is_replaced_by_its_kind(text: str, expected: str) -> None:
    assert redact(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Which port does it listen on, 8080 or 9090?",
        "Is 127.0.0.1 the same as 192.168.0.1 or ::1?",
        "What changed between 2024-01-31 and 31.12.2025?",
        "Does version 1.24.3 of numpy work with 3.11.7?",
        "The card 4111 1111 1111 1112 is no card",
        "DE89 3704 0044 0532 0130 03 has wrong check digits",
        "std::vector<int>::iterator and a::b::c",
        "user@host without a domain",
        "What does error 1700000000 mean at 50 Hz?",
        "Chapters 3-5, pages 100-200",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text) == text


@given(st.text(alphabet="a1.:-+@() x0DE9", max_size=200))
def test_findings_are_apart_and_inside_the_text(text: str) -> None:
    found = find(text)
    for one, two in pairwise(found):
        assert one.end <= two.start
    assert all(0 <= finding.start < finding.end <= len(text) for finding in found)


def test_long_texts_are_searched_in_linear_time() -> None:
    import time

    for text in ("1 " * 50_000, "a" * 100_000, "1.1" * 30_000, "a.b@" * 30_000, ":" * 50_000):
        began = time.perf_counter()
        redact(text)
        assert time.perf_counter() - began < 5, text[:10]
