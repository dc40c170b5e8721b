from __future__ import annotations

import json
from pathlib import Path

import pytest

from quire.errors import InvalidRequest, NotFound
from quire.evaluation.corpus import PageNames, find_corpus


def jsonl(path: Path, *rows: dict[str, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_documents_become_one_page_each(tmp_path: Path) -> None:
    file = jsonl(
        tmp_path / "set" / "corpus.jsonl",
        {"_id": "_a/b#c", "title": "A  title", "text": "Text."},
        {"_id": "x:1", "title": "", "text": "--- no title"},
    )
    corpus = find_corpus(file, pages=tmp_path / "pages")
    assert corpus.name == "set"
    texts = {corpus.page_id(p.name): p.read_text() for p in corpus.root.iterdir()}
    assert texts == {
        "_a/b#c": "# A title\n\nText.\n",
        "x:1": "---\ntitle: Text\n---\n\n--- no title\n",
    }
    assert sorted(corpus.documents)[0].startswith("a-b-c-"), "an address counts in a search"


def test_ids_without_a_letter_of_ours_still_have_files_of_their_own(tmp_path: Path) -> None:
    rows = [
        {"_id": id, "title": "", "text": "x"}
        for id in ("机", "器", "../..", "A/b", "a-b", "l" * 900)
    ]
    corpus = find_corpus(jsonl(tmp_path / "c.jsonl", *rows), pages=tmp_path / "pages")
    names = [path.name for path in corpus.root.iterdir()]
    assert len(names) == len({name.lower() for name in names}) == len(rows)
    assert all(not name.startswith((".", "_")) and len(name) < 200 for name in names)


def test_a_changed_corpus_changes_only_its_own_pages(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    row = {"_id": "a", "title": "A", "text": "same"}
    find_corpus(
        jsonl(tmp_path / "c.jsonl", row, {"_id": "b", "title": "B", "text": "b"}), pages=pages
    )
    kept = {path.name: path.stat().st_mtime_ns for path in pages.iterdir()}
    corpus = find_corpus(jsonl(tmp_path / "c.jsonl", row), pages=pages)
    (left,) = pages.iterdir()
    assert corpus.page_id(left.name) == "a"
    assert left.stat().st_mtime_ns == kept[left.name]


def test_a_folder_with_a_tree_and_a_jsonl_stands_for_its_tree(tmp_path: Path) -> None:
    jsonl(tmp_path / "set" / "corpus.jsonl", {"_id": "a", "title": "", "text": "x"})
    (tmp_path / "set" / "md").mkdir()
    corpus = find_corpus(tmp_path / "set", pages=tmp_path / "pages")
    assert corpus.root.name == "md"
    assert corpus.name == "set"


def test_relevant_ids_resolve_with_and_without_extension_and_anchor(tmp_path: Path) -> None:
    (tmp_path / "guide").mkdir()
    (tmp_path / "guide" / "v1.2.mdx").write_text("# x")
    names = PageNames(find_corpus(tmp_path, pages=tmp_path / "pages"))
    for name in ("guide/v1.2.mdx", "guide/v1.2", "./guide/v1.2.mdx", "/guide/v1.2"):
        assert names.resolve(name) == ("guide/v1.2", None)
    assert names.resolve("guide/v1.2.mdx#setup") == ("guide/v1.2", "setup")
    assert names.knows("guide/v1.2")
    assert not names.knows(names.resolve("guide/absent.md")[0])


def test_a_document_id_with_a_hash_is_no_anchor(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "corpus.jsonl", {"_id": "page#one", "title": "", "text": "x"})
    names = PageNames(find_corpus(file, pages=tmp_path / "pages"))
    assert names.resolve("page#one") == ("page#one", None)


@pytest.mark.parametrize(
    ("line", "message"),
    [("{", "is not JSON"), ("3", "JSON object"), ('{"_id": "a"}', "needs '_id' and 'text'")],
)
def test_a_bad_document_is_named_by_its_line(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text(line)
    with pytest.raises(InvalidRequest, match=f":1: .*{message}"):
        find_corpus(file, pages=tmp_path / "pages")


def test_a_corpus_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no corpus"):
        find_corpus(tmp_path / "absent", pages=tmp_path)
