from __future__ import annotations

import pytest

from quire.evaluation.matching import contains, slug, word_recall


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It was **built** in 1889 [1].", "Built in 1889"),
        ("| Jazzy Jalisco | May 2024 |", "Jazzy Jalisco | May 2024"),
        ("Run `ros2 topic list` now.", "ros2 topic list"),
        ("See [the docs](https://example.org) first.", "See docs"),
        ("RCEP包括中国和日本。", "中国"),
        ("costs 84% more", "84%"),
    ],
)
def test_an_answer_is_found_whatever_the_markup(text: str, answer: str) -> None:
    assert contains(text, [answer])


@pytest.mark.parametrize(
    ("text", "answer"), [("the art of war", "art of wa"), ("x", ""), ("", "a b")]
)
def test_parts_of_words_and_empty_answers_are_not_found(text: str, answer: str) -> None:
    assert not contains(text, [answer])


def test_word_recall_takes_the_best_answer() -> None:
    assert word_recall("red and blue", ["green", "red blue yellow"]) == pytest.approx(2 / 3)


def test_anchors_of_different_generators_read_alike() -> None:
    assert slug("What's new?") == slug("what-s-new") == "what-s-new"
