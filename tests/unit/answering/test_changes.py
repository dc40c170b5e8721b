import pytest

from quire.answering.changes import asks_for_changes, lists_changes
from tests.chunks import make_chunk

NOTES = """\
### Internal

* 👷 Add a cron job. PR [#9735](https://example.org/9735) by [@ada](https://example.org/ada).
* ⬆ Bump the linter. PR #9734 by @bob.
"""
COMMITS = "- Fix the clock (34d29db)\n- Drop `spin` (`a1b2c3d4e5`)\n- Say more in the docs\n"


@pytest.mark.parametrize(
    ("text", "title", "expected"),
    [
        (NOTES, "Notes", True),
        (COMMITS, "Rolling", True),
        ("* Update the docs. PR #12 by @bob.", "Release Notes", True),
        ("* Update the docs. PR #12 by @bob.", "Timers", False),
        ("- Open port #8\n- Call the pump\n- Wait a minute\n", "Pumps", False),
        ("- Decorate it with `@app.get()`\n- Add `@dataclass`\n", "Routes", False),
        ("1. Send 1234567 bytes\n2. Wait for effaced ones\n", "Sockets", False),
        ("Issue #12 was fixed by @bob.", "Release Notes", False),
        ("", "Changelog", False),
    ],
)
def test_a_list_of_changes_is_told_by_its_references(text: str, title: str, expected: bool) -> None:
    assert lists_changes(make_chunk(text or " ", page_title=title)) is expected


@pytest.mark.parametrize(
    ("title", "file", "section", "expected"),
    [
        ("Changelog", "changelog.rst", "2.1.0 (May 3, 2026)", True),
        ("Important notes", "changes.rst", "Version 1.1.5 (2018-04-01)", True),
        ("What's new in Borg", "a.md", "v1.2.3", True),
        ("Django 1.2 release notes", "releases/1.2.txt", "CSRF protection", True),
        ("Changelog", "changelog.rst", "How to read it", False),
        ("Writing release notes", "contributing.md", "CSRF protection", False),
        ("Installation", "install.md", "Ubuntu 22.04", False),
        ("Changes of state", "states.md", "Version 1.1", False),
    ],
)
def test_a_list_of_changes_is_told_by_its_versions(
    title: str, file: str, section: str, expected: bool
) -> None:
    chunk = make_chunk("Text.", page_title=title, source_file=file, section_path=(title, section))
    assert lists_changes(chunk) is expected


@pytest.mark.parametrize(
    "question",
    ["What changed in 0.95?", "Who fixed the clock?", "Is `spin` deprecated?", "What is new?"],
)
def test_who_asks_for_changes_gets_them(question: str) -> None:
    assert asks_for_changes(question)


@pytest.mark.parametrize("question", ["How do I schedule a cron job?", "What is a topic?"])
def test_most_questions_are_not_about_changes(question: str) -> None:
    assert not asks_for_changes(question)
