from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from quire.ingestion.revision import revise
from quire.models import Chunk

THEN = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 2, 2, tzinfo=UTC)


def chunk(key: str, **changes: object) -> Chunk:
    plain = Chunk(
        id=key,
        text=f"text of {key}",
        book_id="book",
        source_file="a.md",
        module="m",
        chapter=0,
        lesson=0,
        page_title="A",
        section_title=None,
        section_path=(),
        breadcrumb="A",
        source_url="/a",
        language="en",
        hardware_tier=1,
        proficiency_level="A2",
        layer="L1",
        char_start=0,
        char_end=1,
        line_start=1,
        line_end=1,
        parent_doc_id="p",
        chunk_index=0,
        total_chunks=1,
        prev_chunk_id=None,
        next_chunk_id=None,
        content_hash=key,
        source_file_hash="f",
        embedded_hash=f"embedded {key}",
        created_at=THEN,
        updated_at=THEN,
        word_count=1,
        token_count=1,
        char_count=1,
    )
    return replace(plain, **changes)  # pyright: ignore[reportArgumentType]


def revised(new: list[Chunk], old: list[Chunk], *, embed_all: bool = False):  # type: ignore[no-untyped-def]
    return revise(
        new,
        old_ids=[known.id for known in old],
        stored={known.id: known for known in old},
        now=NOW,
        embed_all=embed_all,
    )


def test_equal_chunks_need_nothing_and_keep_their_times():
    result = revised([chunk("a", created_at=NOW, updated_at=NOW)], [chunk("a", version=3)])
    assert result.is_empty
    assert result.chunks == (chunk("a", version=3),)


def test_a_changed_payload_keeps_the_vector_and_the_version():
    result = revised([chunk("a", next_chunk_id="b")], [chunk("a", version=3)])
    assert (result.update, result.embed, result.gone) == ((0,), (), ())
    assert result.chunks[0] == chunk("a", next_chunk_id="b", version=3, updated_at=NOW)


def test_another_heading_path_embeds_again_under_the_same_id():
    result = revised([chunk("a", embedded_hash="other")], [chunk("a")])
    assert (result.embed, result.update, result.added) == ((0,), (), 0)


def test_a_chunk_in_anothers_place_continues_its_history():
    old = [chunk("a"), chunk("b", version=4), chunk("c")]
    result = revised([chunk("a"), chunk("x"), chunk("c")], old)
    assert (result.embed, result.gone, result.added) == ((1,), ("b",), 1)
    assert (result.chunks[1].version, result.chunks[1].created_at) == (5, THEN)
    assert result.chunks[1].updated_at == NOW


def test_an_inserted_chunk_begins_a_history_and_the_others_keep_theirs():
    old = [chunk("a", version=2), chunk("b", version=2)]
    result = revised([chunk("a"), chunk("x"), chunk("b")], old)
    assert [c.version for c in result.chunks] == [2, 1, 2]
    assert result.chunks[1].created_at == NOW


def test_the_same_text_under_another_id_takes_the_vector_along():
    moved = chunk("y", content_hash="a", embedded_hash="embedded a", source_file="b.md")
    result = revised([moved], [chunk("a", version=2)])
    assert (result.copy, result.embed, result.gone) == ({0: "a"}, (), ("a",))
    assert (result.chunks[0].version, result.chunks[0].created_at) == (2, THEN)


def test_repeating_an_interrupted_revision_ends_in_the_same_state():
    old = [chunk("a"), chunk("b", version=4)]
    first = revised([chunk("a"), chunk("x")], old)
    half_done = {c.id: c for c in (*old, first.chunks[1])}
    again = revise([chunk("a"), chunk("x")], old_ids=["a", "b"], stored=half_done, now=NOW)
    assert again.chunks == first.chunks
    assert (again.embed, again.gone, again.added) == ((), ("b",), 0)


def test_full_embeds_everything_and_keeps_histories():
    result = revised([chunk("a")], [chunk("a", version=2)], embed_all=True)
    assert (result.embed, result.update) == ((0,), ())
    assert result.chunks[0].version == 2
