"""Counting by words gives the tokenizer's own counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quire.embedding.counting import WordPieceCounter
from quire.embedding.store import ModelStore

Count = Callable[[str], int]

PIECES = st.sampled_from(
    [
        *(
            "robot",
            "Übung",
            "don't",
            "snake_case",
            "a.b()",
            "机器人",
            "x" * 120,
            "[MASK]",
            "[mask]",
        ),
        *(
            " ",
            "\n",
            "\t",
            "\x0b",
            "\x1c",
            "\x85",
            "\u200b",
            "\u0301",
            "\u2028",
            "\u3000",
            "\ufffd",
        ),
        *("—", "…", "😀", "ſ", "İ", "é", "3.14", "-", "`"),
    ]
)


@pytest.fixture(scope="module")
def tokenizer(model_cache: Path) -> Count:
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(ModelStore(model_cache).path_of("tokenizer")))
    loaded.no_padding()
    loaded.no_truncation()
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


@given(st.lists(PIECES, max_size=12).map("".join))
@example("Répétez: 机器人 🤖, then `ros2 topic list` again.")
def test_counts_are_those_of_the_tokenizer(tokenizer: Count, text: str) -> None:
    assert WordPieceCounter(tokenizer)(text) == tokenizer(text)


def test_a_word_is_asked_for_once() -> None:
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return len(text)

    counter = WordPieceCounter(count)
    assert counter("Go, go, GO — gone") == 2 + 1 + 2 + 1 + 2 + 1 + 4
    assert asked == ["go", "—", "gone"]
