from __future__ import annotations

from pathlib import Path

import pytest

from quire.books import load_book
from quire.errors import InvalidBook, InvalidRequest, NotFound

FULL = """
id = "robots"
title = "Robots"
base_url = "https://example.org/robots/"
profile = "lessons"
include = ["**/*.md"]
exclude = ["drafts"]

[taxonomy]
tiers = [1, 2]
proficiency_levels = ["A1", "B1"]
layers = ["L1", "L2"]
chapters = [0, 20]
lessons = [0, 15]

[taxonomy.modules]
ros2 = ["module-1-ros2"]
gazebo = []
"""


def make(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# Page\n\nSome text.\n")
    return root


def test_a_full_configuration_is_read(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text(FULL)
    book = load_book(tmp_path)
    assert (book.id, book.title, book.profile) == ("robots", "Robots", "lessons")
    assert book.base_url == "https://example.org/robots"
    assert book.taxonomy.modules == ("ros2", "gazebo")
    assert book.taxonomy.module("module-1-ros2") == "ros2"
    assert book.taxonomy.module("vla") is None
    assert book.taxonomy.chapters == (0, 20)
    assert (book.taxonomy.default_tier, book.taxonomy.default_level) == (1, "A1")


def test_modules_may_be_a_list_with_a_table_of_aliases(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text(
        '[taxonomy]\nmodules = ["ros2"]\n[taxonomy.aliases]\n"m1" = "ros2"\n'
    )
    assert load_book(tmp_path).taxonomy.module("m1") == "ros2"


@pytest.mark.parametrize(
    ("toml", "key"),
    [
        ("id = 3", "'id'"),
        ('id = "a b"', "'id'"),
        ('id = "a:b"', "'id'"),
        ("title = ''", "'title'"),
        ("base_url = 'ftp://x'", "'base_url'"),
        ("profile = 'novel'", "'profile'"),
        ("layout = 'hugo'", "'layout'"),
        ("include = 'x'", "'include'"),
        ("exclude = ['../x']", "'exclude'"),
        ("content_dir = '../x'", "'content_dir'"),
        ("colour = 1", "'colour'"),
        ("taxonomy = 1", "'taxonomy'"),
        ("[taxonomy]\ntiers = ['a']", "'taxonomy.tiers'"),
        ("[taxonomy]\nchapters = [3]", "'taxonomy.chapters'"),
        ("[taxonomy]\nlessons = [9, 1]", "'taxonomy.lessons'"),
        ("[taxonomy]\nmodules = ['a']\naliases = {x = 'b'}", "'taxonomy.aliases.x'"),
        ("[taxonomy]\nlevels = ['A1']", "'taxonomy.levels'"),
        ("id = ", "quire.toml"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(tmp_path: Path, toml: str, key: str) -> None:
    (tmp_path / "quire.toml").write_text(toml)
    with pytest.raises(InvalidBook) as caught:
        load_book(tmp_path)
    assert key in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_file_the_id_is_the_folders_slug(tmp_path: Path) -> None:
    for names, expected in [
        (("My Book",), "my-book"),
        (("Fast API", "docs"), "fast-api"),
        (("fastapi", "docs", "en"), "fastapi"),
        (("fastapi", "docs", "de"), "fastapi-de"),
        (("site", "mybook", "md"), "mybook"),
        (("robo", "i18n", "ur", "docusaurus-plugin-content-docs", "current"), "robo-ur"),
        (("docu", "versioned_docs", "version-3.9"), "docu-3-9"),
    ]:
        root = tmp_path.joinpath(*names)
        root.mkdir(parents=True, exist_ok=True)
        assert load_book(root).id == expected
    urdu = tmp_path / "کتاب"
    urdu.mkdir()
    assert load_book(urdu).id.startswith("book-")


def test_the_given_id_wins_and_is_checked(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text('id = "one"')
    assert load_book(tmp_path, book_id="two").id == "two"
    with pytest.raises(InvalidBook, match="'id'"):
        load_book(tmp_path, book_id="a/b")


def test_the_profile_follows_the_shape_of_the_paths(tmp_path: Path) -> None:
    assert load_book(make(tmp_path / "a", "intro.md")).profile == "docs"
    lessons = make(tmp_path / "b", "module-1-ros2/chapter-1-x/01-y.md")
    assert load_book(lessons).profile == "lessons"
    nested = make(tmp_path / "c", "docs/module-1-ros2/chapter-1-x/01-y.mdx")
    assert load_book(nested).profile == "lessons"


def test_a_missing_folder_and_a_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        load_book(tmp_path / "nowhere")
    page = tmp_path / "page.md"
    page.write_text("x")
    with pytest.raises(InvalidRequest):
        load_book(page)


def test_the_settings_hash_follows_what_reaches_the_chunks(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    first = load_book(tmp_path).settings_hash
    assert load_book(tmp_path).settings_hash == first
    (tmp_path / "quire.toml").write_text('exclude = ["x"]')
    assert load_book(tmp_path).settings_hash == first
    (tmp_path / "quire.toml").write_text('base_url = "https://example.org"')
    assert load_book(tmp_path).settings_hash != first


def test_the_sample_book_loads(sample_book: Path) -> None:
    book = load_book(sample_book)
    assert book.id == "physical-ai"
    assert book.taxonomy.modules == ("ros2", "gazebo", "isaac", "vla")
    assert book.folder_titles["module-3-isaac"] == "Module 3: NVIDIA Isaac"
