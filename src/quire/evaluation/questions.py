"""Labelled questions: what is asked, which pages hold the answer, or that none does."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from quire.errors import InvalidRequest, NotFound
from quire.models import Message

REFUSE = "refuse"
"""In `expect`: the book must not answer."""

_GROUPS = ("case", "answerability", "kind", "type")
_USER_ROLES = frozenset({"user", "human", "reader"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its truth; `answerable` is None where nobody labelled it."""

    id: str
    text: str
    relevant: tuple[str, ...] = ()
    """Page paths, document ids, or `page#anchor`."""
    anchors: tuple[str, ...] = ()
    """Anchors of the right section on the relevant pages, where the ids carry none."""
    answers: tuple[str, ...] = ()
    answerable: bool | None = True
    history: tuple[Message, ...] = ()
    standalone: str | None = None
    """The same question without its history, written by a person."""
    docs: tuple[str, ...] = ()
    """The only documents the answer may come from, when the case brings its own."""
    group: str = ""
    dialogue: str | None = None
    """Turns of one dialogue share this; the answers given so far are the history."""
    filters: Mapping[str, Any] = field(default_factory=dict[str, Any])


def read_questions(path: Path) -> list[Question]:
    """Read a JSONL file, or the `questions` of a `quire.toml`; the order is kept.

    Raises `NotFound` when there is no such file, `InvalidRequest` with the line of a bad row.
    """
    if not path.is_file():
        raise NotFound(f"there is no questions file '{path}'")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path}: is not UTF-8") from error
    rows = _toml_rows(path, text) if path.suffix == ".toml" else _jsonl_rows(path, text)
    questions = [question for place, row in rows for question in _questions(place, row)]
    _reject_duplicates(path, questions)
    return questions


def read_all(paths: Sequence[Path]) -> list[Question]:
    """The questions of several files, one after the other; ids must differ across them."""
    questions = [question for path in paths for question in read_questions(path)]
    if len(paths) > 1:
        _reject_duplicates(paths[-1], questions)
    return questions


def questions_file(book: Path) -> Path:
    """Where a book keeps its questions: `questions.jsonl`, else its `quire.toml`."""
    for name in ("questions.jsonl", "quire.toml"):
        candidate = book / name
        if candidate.is_file() and (name != "quire.toml" or _holds_questions(candidate)):
            return candidate
    raise NotFound(
        f"'{book}' has no questions: write a questions.jsonl, or [[questions]] in its quire.toml"
    )


def sample(questions: Sequence[Question], limit: int | None, *, seed: int = 0) -> list[Question]:
    """At most `limit` questions, the same ones every time, in file order.

    Whole dialogues are kept: a turn without those before it is another question.
    """
    if limit is None or limit >= len(questions):
        return list(questions)
    units: dict[str, list[int]] = {}
    for position, question in enumerate(questions):
        units.setdefault(question.dialogue or question.id, []).append(position)
    order = list(units.values())
    random.Random(seed).shuffle(order)
    chosen: list[int] = []
    for unit in order:
        if len(chosen) + len(unit) <= limit:
            chosen.extend(unit)
    return [questions[position] for position in sorted(chosen)]


def _jsonl_rows(path: Path, text: str) -> Iterable[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidRequest(f"{path}:{number}: is not JSON: {error.msg}") from error
        if not isinstance(row, dict):
            raise InvalidRequest(f"{path}:{number}: must be a JSON object")
        yield f"{path}:{number}", cast(dict[str, Any], row)


def _toml_rows(path: Path, text: str) -> Iterable[tuple[str, dict[str, Any]]]:
    try:
        rows = tomllib.loads(text).get("questions", [])
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"{path}: {error}") from error
    if not isinstance(rows, list):
        raise InvalidRequest(f"{path}: 'questions' must be a list of tables: [[questions]]")
    for number, row in enumerate(cast(list[Any], rows), start=1):
        if not isinstance(row, dict):
            raise InvalidRequest(f"{path}: question {number} must be a table: [[questions]]")
        yield f"{path}: question {number}", {"id": f"q{number}", **cast(dict[str, Any], row)}


def _holds_questions(path: Path) -> bool:
    try:
        return "questions" in tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError:
        return False


def _questions(place: str, row: dict[str, Any]) -> Iterable[Question]:
    turns = row.get("turns")
    if turns is None:
        yield _question(place, row)
        return
    if not isinstance(turns, list) or not all(isinstance(turn, dict) for turn in _items(turns)):
        raise InvalidRequest(f"{place}: 'turns' must be a list of objects")
    name = str(row.get("id") or place)
    for number, turn in enumerate(cast(list[dict[str, Any]], turns), start=1):
        yield _question(
            place,
            {"group": "dialogue", **turn, "id": f"{name}.{number}"},
            dialogue=name,
        )


def _question(place: str, row: dict[str, Any], *, dialogue: str | None = None) -> Question:
    text = row.get("question") or row.get("text") or row.get("query")
    if not isinstance(text, str) or not text.strip():
        raise InvalidRequest(f"{place}: has no question")
    relevant, answerable = _truth(place, row)
    return Question(
        id=str(row.get("id") or place.rsplit("/", 1)[-1]),
        text=text,
        relevant=relevant,
        anchors=_texts(place, row, "anchor") or _texts(place, row, "relevant_section"),
        answers=_texts(place, row, "answers") or _texts(place, row, "answer"),
        answerable=answerable,
        history=_history(place, row.get("history")),
        standalone=row.get("standalone"),
        docs=_texts(place, row, "docs"),
        group=str(row.get("group") or next((row[g] for g in _GROUPS if row.get(g)), "")),
        dialogue=dialogue,
        filters=row.get("filters") or {},
    )


def _truth(place: str, row: dict[str, Any]) -> tuple[tuple[str, ...], bool | None]:
    """Relevant ids and answerability, from `expect` or from `relevant` and `answerable`."""
    expected = _texts(place, row, "expect")
    if expected == (REFUSE,):
        return (), False
    relevant = expected or _texts(place, row, "relevant")
    answerable = row.get("answerable", bool(relevant))
    if answerable is not None and not isinstance(answerable, bool):
        raise InvalidRequest(f"{place}: 'answerable' must be true, false or null")
    return relevant, answerable


def _texts(place: str, row: dict[str, Any], key: str) -> tuple[str, ...]:
    value: Any = row.get(key)
    if value is None:
        return ()
    values = cast(list[Any], value) if isinstance(value, list) else [value]
    if not all(isinstance(item, str) for item in values):
        raise InvalidRequest(f"{place}: '{key}' must be a text or a list of texts")
    return tuple(values)


def _items(values: Any) -> list[Any]:
    return cast(list[Any], values)


def _history(place: str, turns: Any) -> tuple[Message, ...]:
    """Earlier turns; speakers and texts go by several names in published sets."""
    messages: list[Message] = []
    for turn in cast(list[Any], turns or []):
        if not isinstance(turn, dict):
            raise InvalidRequest(f"{place}: each turn of 'history' must be an object")
        turn = cast(dict[str, Any], turn)
        speaker = str(turn.get("role") or turn.get("speaker") or "").lower()
        role: Literal["user", "assistant"] = "user" if speaker in _USER_ROLES else "assistant"
        content = turn.get("content") or turn.get("text") or ""
        messages.append(Message(role=role, content=str(content)))
    return tuple(messages)


def _reject_duplicates(path: Path, questions: Sequence[Question]) -> None:
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise InvalidRequest(f"{path}: the id '{question.id}' occurs twice")
        seen.add(question.id)
