from __future__ import annotations

import json
from pathlib import Path

import pytest

from quire.errors import InvalidRequest, NotFound
from quire.evaluation.questions import Question, questions_file, read_questions, sample


def write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_a_row_becomes_a_question_with_its_truth(tmp_path: Path) -> None:
    file = write(
        tmp_path / "q.jsonl",
        {
            "id": "a",
            "question": "Why?",
            "answers": ["Because."],
            "relevant": ["intro.md"],
            "anchor": "why",
            "answerable": True,
            "kind": "why",
        },
    )
    assert read_questions(file) == [
        Question(
            id="a",
            text="Why?",
            answers=("Because.",),
            relevant=("intro.md",),
            anchors=("why",),
            answerable=True,
            group="why",
        )
    ]


def test_turns_of_a_dialogue_become_questions_of_one_thread(tmp_path: Path) -> None:
    turns = [{"question": "What is a topic?", "relevant": ["t.md"]}, {"question": "And why?"}]
    file = write(tmp_path / "q.jsonl", {"id": "d", "kind": "dialogue", "turns": turns})
    first, second = read_questions(file)
    assert (first.id, second.id) == ("d.1", "d.2")
    assert first.dialogue == second.dialogue == "d"
    assert first.answerable is True
    assert second.answerable is False


@pytest.mark.parametrize(
    "turn", [{"role": "user", "content": "Hi"}, {"speaker": "user", "text": "Hi"}]
)
def test_history_is_read_by_either_pair_of_names(tmp_path: Path, turn: dict[str, str]) -> None:
    file = write(tmp_path / "q.jsonl", {"id": "a", "question": "And?", "history": [turn]})
    (message,) = read_questions(file)[0].history
    assert (message.role, message.content) == ("user", "Hi")


def test_an_unlabelled_question_stays_unlabelled(tmp_path: Path) -> None:
    file = write(tmp_path / "q.jsonl", {"id": "a", "question": "?", "answerable": None})
    assert read_questions(file)[0].answerable is None


def test_quire_toml_holds_questions_with_a_page_or_refuse(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text(
        'id = "b"\n[[questions]]\nquestion = "Who?"\nexpect = "a.md"\n'
        '[[questions]]\nquestion = "Price?"\nexpect = "refuse"\n',
        encoding="utf-8",
    )
    first, second = read_questions(questions_file(tmp_path))
    assert (first.relevant, first.answerable) == (("a.md",), True)
    assert (second.relevant, second.answerable) == ((), False)


def test_a_book_without_questions_says_where_to_write_them(tmp_path: Path) -> None:
    (tmp_path / "quire.toml").write_text('id = "b"\n', encoding="utf-8")
    with pytest.raises(NotFound, match=r"questions\.jsonl"):
        questions_file(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "must be a JSON object"),
        ('{"id": "a"}', "has no question"),
        ('{"question": "?", "relevant": [1]}', "'relevant' must be"),
        ('{"question": "?", "answerable": "yes"}', "'answerable' must be"),
    ],
)
def test_a_bad_row_is_named_by_its_line(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidRequest, match=f":2: .*{message}"):
        read_questions(file)


def test_an_id_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    row = {"id": "a", "question": "?"}
    with pytest.raises(InvalidRequest, match="occurs twice"):
        read_questions(write(tmp_path / "q.jsonl", row, row))


def test_a_sample_is_the_same_every_time_and_keeps_dialogues_whole() -> None:
    single = [Question(id=f"s{n}", text="?") for n in range(20)]
    turns = [Question(id=f"d.{n}", text="?", dialogue="d") for n in range(3)]
    chosen = sample([*single, *turns], 10)
    assert chosen == sample([*single, *turns], 10)
    assert len(chosen) <= 10
    assert sum(q.dialogue == "d" for q in chosen) in (0, 3)
