from __future__ import annotations

import os
from pathlib import Path

import pytest

from quire.books import SourceFile, discover, load_book, read_bytes, survey
from quire.errors import PageRejected


@pytest.fixture
def root(tmp_path: Path) -> Path:
    book = tmp_path / "book"
    book.mkdir()
    (book / "a.md").write_text("# A\n\nText.")
    (tmp_path / "secret.md").write_text("secret")
    return book


def test_files_are_sorted_and_carry_size_and_time(root: Path) -> None:
    (root / "b").mkdir()
    (root / "b" / "c.MD").write_bytes(b"12345")
    files = discover(load_book(root))
    assert [file.source_file for file in files] == ["a.md", "b/c.MD"]
    assert files[1].size == 5
    assert files[1].mtime_ns == (root / "b" / "c.MD").stat().st_mtime_ns


def test_a_part_of_a_page_is_read_if_the_page_stands_beside_it(root: Path) -> None:
    for name in ("create.rst", "create.rst.inc", "global.rst.inc", "notes.inc"):
        (root / name).write_text("text")
    names = {file.source_file for file in discover(load_book(root))}
    assert {"create.rst", "create.rst.inc"} <= names
    assert not {"global.rst.inc", "notes.inc"} & names


def test_links_that_leave_the_folder_are_refused(root: Path) -> None:
    (root / "out.md").symlink_to(root.parent / "secret.md")
    (root / "folder").symlink_to(root.parent)
    (root / "loop.md").symlink_to(root / "loop.md")
    (root / "in.md").symlink_to(root / "a.md")
    found = survey(load_book(root))
    assert [file.source_file for file in found.files] == ["a.md", "in.md"]
    assert {name for name, _ in found.refused} == {"out.md", "folder", "loop.md"}


def test_pipes_are_refused(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    found = survey(load_book(root))
    assert [file.source_file for file in found.files] == ["a.md"]
    assert found.refused == (("pipe.md", "not a regular file"),)


def test_a_pipe_that_takes_the_place_of_a_file_is_rejected_at_once(root: Path) -> None:
    (file,) = discover(load_book(root))
    file.path.unlink()
    os.mkfifo(file.path)
    with pytest.raises(PageRejected, match="not a regular file"):
        read_bytes(file)


def test_a_file_or_a_folder_swapped_for_a_link_is_not_followed(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "secret.md").write_text("harmless")
    files = {file.source_file: file for file in discover(load_book(root))}
    (root / "a.md").unlink()
    (root / "a.md").symlink_to(root.parent / "secret.md")
    (root / "sub" / "secret.md").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(root.parent)
    for name in ("a.md", "sub/secret.md"):
        with pytest.raises(PageRejected) as caught:
            read_bytes(files[name])
        assert caught.value.source_file == name


def test_a_file_that_is_gone_or_too_large_is_rejected(root: Path) -> None:
    (file,) = discover(load_book(root))
    with pytest.raises(PageRejected, match="larger than 4 bytes"):
        read_bytes(file, max_bytes=4)
    file.path.unlink()
    with pytest.raises(PageRejected, match="can't be opened"):
        read_bytes(file)


def test_names_that_cannot_be_shown_are_refused(root: Path) -> None:
    try:
        Path(os.fsdecode(bytes(root) + b"/bad\xff.md")).write_text("x")
    except OSError:
        pytest.skip("the file system refuses such names itself")
    (root / "line\nbreak.md").write_text("x")
    found = survey(load_book(root))
    assert [file.source_file for file in found.files] == ["a.md"]
    assert sorted(name for name, _ in found.refused) == ["bad\\xff.md", "line\\x0abreak.md"]


def test_patterns_choose_the_pages(root: Path) -> None:
    for name in ("b.mdx", "drafts/c.md", "x/drafts/d.md", "x/e.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "quire.toml").write_text('exclude = ["drafts", "*.mdx"]')
    assert [file.source_file for file in discover(load_book(root))] == ["a.md", "x/e.md"]
    (root / "quire.toml").write_text('include = ["x/**/*.md"]\nexclude = ["/drafts/"]')
    assert [file.source_file for file in discover(load_book(root))] == ["x/e.md"]


def test_a_source_file_names_what_was_read(root: Path) -> None:
    (file,) = discover(load_book(root))
    assert file == SourceFile(root / "a.md", "a.md", file.size, file.mtime_ns)
    assert read_bytes(file) == b"# A\n\nText."
