"""A chunk's payload: nothing is lost, and it is plain JSON."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone

import pytest

from quire.index.conditions import AnyOf, Match, conditions, page_url
from quire.index.payload import FILTERED, INDEXED, is_point_id, to_chunk, to_payload
from quire.models import Chunk, Filters, Rendition, Run
from tests.contract.index_suite import make_chunk

SEED_003 = {
    "book_id", "module", "chapter", "lesson", "hardware_tier", "proficiency_level", "layer",
    "parent_doc_id", "content_hash", "source_file_hash", "text", "section_title", "source_file",
    "chunk_index", "total_chunks", "prev_chunk_id", "next_chunk_id", "word_count", "token_count",
    "version", "created_at", "updated_at",
}  # fmt: skip


def test_every_field_survives_the_way_through_json() -> None:
    chunk = make_chunk(
        5,
        created_at=datetime(2025, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        updated_at=datetime(2025, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=5))),
        rendition=Rendition("*a* \n", (Run(1, 0, 1, 1), Run(4, 2, 1, 2))),
    )
    payload = json.loads(json.dumps(to_payload(chunk)))
    assert to_chunk(chunk.id, payload) == chunk


def test_the_payload_has_every_field_of_a_chunk_and_of_the_seed() -> None:
    payload = to_payload(make_chunk(0))
    assert set(payload) == {field.name for field in fields(Chunk)} - {"id"} | {"page_url"}
    assert set(payload) >= SEED_003


def test_every_field_a_filter_names_is_indexed() -> None:
    everything = Filters(
        hardware_tier=1,
        module="m",
        chapter_min=1,
        lesson=1,
        proficiency_levels=("A1",),
        layer="L1",
        parent_doc_id="p",
        source_url=("u", "u#a"),
        page_title=("t",),
        section_heading=("s",),
        source_file=("f",),
        language="en",
    )
    named: set[str] = set()
    for condition in conditions(everything):
        matches = condition.matches if isinstance(condition, AnyOf) else (condition,)
        named |= {match.field for match in matches}
    assert named == set(FILTERED)
    assert set(INDEXED) >= set(FILTERED) | {"book_id", "content_hash", "source_file_hash"}


def test_no_filters_are_no_conditions() -> None:
    assert conditions(Filters()) == ()


def test_zero_is_a_value() -> None:
    assert conditions(Filters(lesson=0)) == (Match("lesson", (0,)),)
    assert len(conditions(Filters(chapter_min=0, chapter_max=0))) == 1


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://b.example/a/b#c", "https://b.example/a/b"),
        ("https://b.example/a/b/#c", "https://b.example/a/b"),
        ("https://b.example/a/b/", "https://b.example/a/b"),
        ("/docs/intro", "/docs/intro"),
        ("/", ""),
    ],
)
def test_page_url(url: str, page: str) -> None:
    assert page_url(url) == page


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", True),
        ("6BA7B810-9DAD-11D1-80B4-00C04FD430C8", False),
        ("6ba7b8109dad11d180b400c04fd430c8", False),
        ("urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8", False),
        ("6ba7b810-9dad-11d1-80b4-00c04fd430c8\n", False),
        ("1", False),
    ],
)
def test_only_a_canonical_uuid_is_a_point_id(text: str, valid: bool) -> None:
    assert is_point_id(text) is valid
