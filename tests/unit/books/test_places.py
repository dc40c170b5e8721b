from __future__ import annotations

from pathlib import Path

import pytest

from quire.books import Book, Taxonomy, place_of

LESSONS = Book(
    id="b",
    title="B",
    root=Path("/b"),
    profile="lessons",
    taxonomy=Taxonomy(
        modules=("ros2", "vla"),
        aliases={"module-1-ros2": "ros2"},
        chapters=(0, 20),
        lessons=(0, 15),
    ),
)


@pytest.mark.parametrize(
    ("source_file", "place"),
    [
        ("module-1-ros2/chapter-3-x/04-y.md", ("ros2", 3, 4, True)),
        ("module-1-ros2/chapter-3-x/README.md", ("ros2", 3, 0, True)),
        ("module-1-ros2/README.md", ("ros2", 0, 0, True)),
        ("module-4-vla/chapter-8/index.mdx", ("vla", 8, 0, True)),
        ("module-1-ros2/chapter-3-x/glossary.md", ("ros2", 3, 0, False)),
        ("module-1-ros2/chapter-3-x/deep/01-y.md", ("ros2", 3, 0, False)),
        ("module-1-ros2/notes.md", ("ros2", 0, 0, False)),
        ("module-1-ros2/chapter-99-x/01-y.md", ("ros2", 0, 0, False)),
        ("preface.md", ("root", 0, 0, False)),
        ("appendix/a.md", ("appendix", 0, 0, False)),
    ],
)
def test_a_path_tells_the_lesson(source_file: str, place: tuple[str, int, int, bool]) -> None:
    found = place_of(LESSONS, source_file)
    assert (found.module, found.chapter, found.lesson, found.is_lesson) == place


def test_what_the_book_does_not_declare_is_a_warning() -> None:
    assert place_of(LESSONS, "module-9-cooking/chapter-1/01-a.md").module == "cooking"
    assert place_of(LESSONS, "module-9-cooking/chapter-1/01-a.md").warnings
    assert place_of(LESSONS, "module-1-ros2/chapter-99-x/01-y.md").warnings


def test_translations_and_versions_never_claim_a_lesson() -> None:
    name = "i18n/ur/docusaurus-plugin-content-docs/current/module-1-ros2/chapter-3/04-y.md"
    found = place_of(LESSONS, name)
    assert (found.module, found.chapter, found.lesson) == ("ros2", 3, 4)
    assert (found.locale, found.is_lesson) == ("ur", False)
    versioned = place_of(LESSONS, "versioned_docs/version-1/module-1-ros2/chapter-3/04-y.md")
    assert (versioned.version, versioned.is_lesson) == ("1", False)


def test_a_docs_page_belongs_to_its_first_folder() -> None:
    book = Book(id="b", title="B", root=Path("/b"))
    assert place_of(book, "guide/deep/a.md").module == "guide"
    assert place_of(book, "a.md").module == "root"
