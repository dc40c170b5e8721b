import pytest

from quire.books.front import front_pages


@pytest.mark.parametrize(
    ("files", "front"),
    [
        (["a.md", "intro.md", "z.md"], ["intro.md"]),
        (["docs/index.md", "docs/guide/index.md", "docs/how.md"], ["docs/index.md"]),
        (
            [
                "SUMMARY.md",
                "ch00-00-introduction.md",
                "ch01-00-x.md",
                "foreword.md",
                "title-page.md",
            ],
            ["ch00-00-introduction.md", "foreword.md", "title-page.md"],
        ),
        (["01-Part/README.md", "preface-for-agents.md"], ["preface-for-agents.md"]),
        (["intro/index.md", "intro/more.md", "part-1/intro.md"], ["intro/index.md"]),
        (["_parts/README.md", ".github/index.md", "docs/welcome.md"], ["docs/welcome.md"]),
        (["Index.MDX", "aboutness.md"], ["Index.MDX"]),
        (["only.md"], ["only.md"]),
        (["one.md", "two.md"], []),
        ([], []),
    ],
)
def test_the_pages_nearest_to_the_root_that_are_named_so_introduce_a_book(
    files: list[str], front: list[str]
) -> None:
    assert list(front_pages(files)) == front
