from __future__ import annotations

from pathlib import Path

import pytest

from quire.books import Book, page_address

PLAIN = Book(id="b", title="B", root=Path("/b"), base_url="https://example.org/book")


@pytest.mark.parametrize(
    ("source_file", "front_matter", "address"),
    [
        ("intro.md", {}, "/intro"),
        ("01-intro.md", {}, "/intro"),
        ("02_setup.mdx", {}, "/setup"),
        ("3. three.md", {}, "/three"),
        ("2024-05-01-news.md", {}, "/2024-05-01-news"),
        ("7.0-foo.md", {}, "/7.0-foo"),
        ("module-1-ros2/chapter-2/03-topics.md", {}, "/module-1-ros2/chapter-2/topics"),
        ("01-a/02-b/03-c.md", {}, "/a/b/c"),
        ("a/index.md", {}, "/a/"),
        ("a/README.md", {}, "/a/"),
        ("a/readme.mdx", {}, "/a/"),
        ("a/A.md", {}, "/a/"),
        ("01-a/01-a.md", {}, "/a/"),
        ("README.md", {}, "/"),
        ("a/README.md", {"id": "overview"}, "/a/"),
        ("a/b.md", {"id": "other"}, "/a/other"),
        ("a/b.md", {"slug": "c"}, "/a/c"),
        ("a/b.md", {"slug": "/c/d"}, "/c/d"),
        ("a/b.md", {"slug": "/"}, "/"),
        ("a/b.md", {"slug": "../c"}, "/c"),
        ("a/b.md", {"slug": "../../../c"}, "/c"),
        ("a/b.md", {"slug": ""}, "/a/b"),
        ("folder with space/ä b.md", {}, "/folder%20with%20space/%C3%A4%20b"),
        ("a/b.rst", {}, "/a/b.html"),
        ("a/b.ipynb", {}, "/a/b.html"),
    ],
)
def test_addresses_are_those_of_docusaurus(
    source_file: str, front_matter: dict[str, str], address: str
) -> None:
    expected = "https://example.org/book" + address
    assert page_address(PLAIN, source_file, front_matter) == expected


def test_without_a_base_url_addresses_are_relative_to_the_site() -> None:
    book = Book(id="b", title="B", root=Path("/b"))
    assert page_address(book, "module-1-ros2/a.md", {}) == "/module-1-ros2/a"
