"""Text made to be slow to look at: what a reader sends must not hold up the others."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from quire.answering import clarification, guard, lexicon
from quire.answering.followups import standalone_question
from quire.answering.intent import read_intent
from quire.answering.parts import two_parts
from quire.answering.sanitizer import safe_markdown
from quire.models import Message

QUESTION_CHARS, TEXT_CHARS = 2000, 8000
LIMIT_S = 0.3
PIECES = (
    *("a", "a ", "1 ", "?", ".", ". ", "[", "![](", "[^", "<", "<a ", "`", "\\", "!", "@", "- "),
    *("a@", "a.b", "www.", "on", "\t", "\n", " ", "\u202e", "中", "how do ", "what is ", "vs "),
    *("compare ", "compare and ", "which ", "hi ", "jailbreak hi ", "ignore all ", "it ", "cost "),
)


def asked_before(text: str) -> None:
    """A question that leans on this one."""
    history = [Message(role="user", content=text), Message(role="assistant", content=text)]
    standalone_question("What about it?", history)


def took(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began


def shapes(piece: str, chars: int) -> tuple[str, ...]:
    """The piece over and over: alone, before a gap, and where a question or a bracket begins."""
    half = chars // 2
    many = piece * chars
    return (
        many[:chars],
        many[: half - 9] + " " * half + "x",
        "compare " + many[: half - 9] + " " * half + "x?",
        f"[{many[: chars - 3]}]x",
    )


@pytest.mark.parametrize("piece", PIECES)
def test_a_question_is_understood_in_no_time(piece: str) -> None:
    ways: tuple[Callable[[str], object], ...] = (
        read_intent,
        guard.is_unsafe,
        two_parts,
        lambda text: clarification.choices(text, []),
        lambda text: standalone_question(text, [Message(role="user", content="What is a node?")]),
        asked_before,
    )
    for text in shapes(piece, QUESTION_CHARS):
        for n, way in enumerate(ways):
            assert took(lambda way=way, text=text: way(text)) < LIMIT_S, (n, text[:30], text[-30:])


@pytest.mark.parametrize("piece", PIECES)
def test_a_text_is_made_safe_in_no_time(piece: str) -> None:
    for text in shapes(piece, TEXT_CHARS):
        for way in (safe_markdown, guard.commands, lexicon.content_stems):
            assert took(lambda way=way, text=text: way(text)) < LIMIT_S, (way, text[:30])
