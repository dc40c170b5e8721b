from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quire.ingestion.plan import (
    MTIME_GRANULARITY_NS,
    FileVersion,
    Move,
    plan,
    proves_unchanged,
    trusted_mtime,
)
from quire.ingestion.state import IngestionRecord

SETTINGS, EMBEDDER = "settings", "hash"


def version(name: str, content: str) -> FileVersion:
    return FileVersion(name, content, len(content), 1)


def record(name: str, content: str) -> IngestionRecord:
    return IngestionRecord(
        book_id="book",
        source_file=name,
        file_hash=content,
        size=len(content),
        mtime_ns=1,
        chunk_ids=(),
        module="m",
        chapter=0,
        lesson=0,
        identity="path",
        settings_hash=SETTINGS,
        embedder=EMBEDDER,
    )


def planned(files: dict[str, str], known: dict[str, str], **options: object):  # type: ignore[no-untyped-def]
    return plan(
        [version(name, content) for name, content in files.items()],
        {name: record(name, content) for name, content in known.items()},
        **{"settings_hash": SETTINGS, "embedder": EMBEDDER, **options},  # pyright: ignore[reportArgumentType]
    )


NAMES = st.sampled_from([f"{n}.md" for n in range(8)])
TREES = st.dictionaries(NAMES, st.sampled_from("abcd"), max_size=8)


@given(TREES, TREES)
def test_every_file_stands_in_exactly_one_group(files: dict[str, str], known: dict[str, str]):
    result = planned(files, known)
    groups = [
        [file.source_file for file in result.new],
        [file.source_file for file in result.modified],
        [move.file.source_file for move in result.moved],
        [file.source_file for file in result.unchanged],
    ]
    assert sorted(name for group in groups for name in group) == sorted(files)


@given(TREES, TREES)
def test_every_record_without_a_file_is_deleted_or_moved_once(
    files: dict[str, str], known: dict[str, str]
):
    result = planned(files, known)
    gone = [*result.deleted, *(move.previous for move in result.moved)]
    assert sorted(gone) == sorted(set(known) - set(files))


@given(TREES, TREES)
def test_the_groups_mean_what_they_say(files: dict[str, str], known: dict[str, str]):
    result = planned(files, known)
    assert all(file.source_file not in known for file in result.new)
    assert all(known[file.source_file] == file.file_hash for file in result.unchanged)
    assert all(known[file.source_file] != file.file_hash for file in result.modified)
    assert all(known[move.previous] == move.file.file_hash for move in result.moved)
    homeless = [known[name] for name in result.deleted]
    assert not {file.file_hash for file in result.new} & set(homeless)


@given(TREES)
def test_an_ingested_tree_needs_nothing(files: dict[str, str]):
    result = planned(files, files)
    assert result.is_empty
    assert len(result.unchanged) == len(files)


@given(TREES)
def test_other_modes_take_nothing_for_unchanged(files: dict[str, str]):
    assert len(planned(files, files, mode="full").modified) == len(files)


def test_a_copy_is_new_and_a_move_is_paired_with_its_former_path():
    result = planned({"a.md": "x", "copy.md": "x", "there.md": "y"}, {"a.md": "x", "here.md": "y"})
    assert [file.source_file for file in result.new] == ["copy.md"]
    assert result.moved == (Move(version("there.md", "y"), "here.md"),)
    assert result.deleted == ()


def test_other_settings_another_embedder_or_a_suspicion_count_as_modified():
    for options in (
        {"settings_hash": "other"},
        {"embedder": "other"},
        {"suspect": frozenset({"a.md"})},
    ):
        assert len(planned({"a.md": "x"}, {"a.md": "x"}, **options).modified) == 1


def test_time_and_size_prove_a_file_unchanged_only_when_the_time_was_old_enough():
    written = 10 * MTIME_GRANULARITY_NS
    just_read = trusted_mtime(written, read_at_ns=written + MTIME_GRANULARITY_NS)
    read_later = trusted_mtime(written, read_at_ns=written + MTIME_GRANULARITY_NS + 1)
    known = record("a.md", "x")
    assert not proves_unchanged(replace(known, mtime_ns=just_read), size=1, mtime_ns=written)
    assert proves_unchanged(replace(known, mtime_ns=read_later), size=1, mtime_ns=written)
    assert not proves_unchanged(replace(known, mtime_ns=read_later), size=2, mtime_ns=written)
    assert not proves_unchanged(replace(known, mtime_ns=read_later), size=1, mtime_ns=written + 1)


def test_a_time_in_the_future_proves_nothing():
    assert trusted_mtime(2 * MTIME_GRANULARITY_NS, read_at_ns=MTIME_GRANULARITY_NS) == 0
