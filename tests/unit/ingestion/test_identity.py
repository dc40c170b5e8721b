from __future__ import annotations

import hashlib
import uuid
from pathlib import Path

from quire.books import Book
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys, named_uuid
from quire.ingestion.pages import Page, read_page
from quire.ingestion.splitting import chunk_page
from quire.models import NAMESPACE, Chunk

BOOK = Book(id="robots", title="R", root=Path("/b"), profile="lessons")
LESSON = "module-1-ros2/chapter-2-x/03-y.md"


def chunks(name: str, text: str, keys: LessonKeys) -> tuple[Chunk, ...]:
    page = read_page(BOOK, name, text.encode())
    assert isinstance(page, Page)
    made = chunk_page(BOOK, page, max_tokens=256, count_tokens=estimate, identity=keys)
    return made.chunks


def named(text: str) -> str:
    return str(uuid.uuid5(NAMESPACE, text))


def test_a_lesson_has_the_seeds_ids() -> None:
    (chunk,) = chunks(LESSON, "Some lesson text.", LessonKeys.from_files(BOOK, [LESSON]))
    short = hashlib.sha256(b"Some lesson text.").hexdigest()[:16]
    assert chunk.id == named(f"robots:ros2:2:3:{short}")
    assert chunk.parent_doc_id == named("robots:ros2:2:3:parent")


def test_other_pages_are_known_by_their_file() -> None:
    for name in ("preface.md", "module-1-ros2/chapter-2-x/glossary.md"):
        (chunk,) = chunks(name, "Some text here.", LessonKeys.from_files(BOOK, [name]))
        short = hashlib.sha256(b"Some text here.").hexdigest()[:16]
        assert chunk.id == named(f"robots:{name}:{short}")
        assert chunk.parent_doc_id == named(f"robots:{name}:parent")


def test_two_files_that_claim_one_lesson_are_both_known_by_their_file() -> None:
    other = "module-1-ros2/chapter-2-x/03-z.md"
    keys = LessonKeys.from_files(BOOK, [LESSON, other])
    (chunk,) = chunks(LESSON, "Some lesson text.", keys)
    assert chunk.parent_doc_id == named(f"robots:{LESSON}:parent")


def test_front_matter_that_moves_a_page_changes_its_identity_safely() -> None:
    keys = LessonKeys.from_files(BOOK, [LESSON])
    (chunk,) = chunks(LESSON, "---\nlesson: 7\n---\nSome lesson text.", keys)
    assert chunk.lesson == 7
    assert chunk.parent_doc_id == named(f"robots:{LESSON}:parent")


def test_equal_texts_on_a_page_get_a_number() -> None:
    block = "```sh\nros2 topic list --verbose\n```\n\n"
    text = "".join(f"<!-- {n:0400} -->\n\n" for n in range(1)) + block
    page = "\n\n".join(f"{'x ' * 200}{n}.\n\n{block}{'y ' * 200}{n}." for n in range(3)) + text
    made = chunks("a.md", page, LessonKeys())
    assert len({chunk.id for chunk in made}) == len(made)


def test_repeats_are_numbered_from_one() -> None:
    text = "## Same\n\nThe very same ten words stand in both of these.\n\n"
    first, second, third = chunks("a.md", text * 3, LessonKeys())
    assert first.content_hash == second.content_hash == third.content_hash
    short = first.content_hash[:16]
    assert first.id == named(f"robots:a.md:{short}")
    assert second.id == named(f"robots:a.md:{short}:1")
    assert third.id == named(f"robots:a.md:{short}:2")


def test_ids_are_those_of_the_standard_library() -> None:
    for name in ("", "a", "robots:ros2:1:2:0123456789abcdef", "کتاب:漢字:" + "x" * 500):
        assert named_uuid(name) == str(uuid.uuid5(NAMESPACE, name))
