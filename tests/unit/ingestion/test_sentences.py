from __future__ import annotations

import pytest

from quire.ingestion.sentences import spans


def split(text: str) -> list[str]:
    return [text[span.start : span.end] for span in spans(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One here.", "Two there!", "Three?"],
        ["Use e.g. a node, i.e. a process.", "Then stop."],
        ["See Fig. 3 and Dr. Smith vs. the rest.", "Done."],
        ["It needs Python 3.11 or later.", "Run ros2.", "Next."],
        ["He said “stop.”", "(It did.)", "**Bold.**", "Then."],
        ["Wait... what?", "Yes."],
        ["Open https://a.b/c.d?e=f. now it works."],
        ["Call `a. B` twice.", "Then `c`."],
        ["J. K. Smith wrote it.", "We read."],
        ['It asks: "I see none. Where\nare they?"', "Then it waits."],
        ["A “first. second.” third.", '**"Stop. Now."** is rude.', "Next."],
        ['A 5" screen.', 'A 7" one.', "Both."],
        ["Apples, pears, etc. are fruit.", "More."],
        ["他走了。", "她来了！", "吗？"],
        ["یہ روبوٹ ہے۔", "کیا یہ چلتا ہے؟", "ہاں۔"],
        ["A line\nthat goes on.", "Next."],
        ["**1. Accelerometer** measures it.", "Next."],
        ["In the “Hello, world!” project, you convert it.", "Next."],
        ["It has one crane.[^1]", "The master is here.[^a][^b]", "Next."],
    ],
)
def test_prose_is_split_at_sentences(sentences: list[str]) -> None:
    joined = "".join(sentences) if sentences[0].endswith("。") else " ".join(sentences)
    assert split(joined) == sentences


def test_blocks_are_units_of_their_own() -> None:
    text = (
        "# Title\n\nProse. More.\n\n- item one. Two sentences.\n- item two\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1. \n\ny\n```\n\n<!-- no -->\n"
    )
    assert [(span.kind, text[span.start : span.end]) for span in spans(text)] == [
        ("heading", "# Title"),
        ("sentence", "Prose."),
        ("sentence", "More."),
        ("item", "- item one. Two sentences."),
        ("item", "- item two"),
        ("row", "| a | b |"),
        ("row", "| 1 | 2 |"),
        ("code", "```py\nx = 1. \n\ny\n```"),
    ]


def test_offsets_are_those_of_the_whole_text() -> None:
    text = "Skip me. Keep this. And this."
    assert [text[s.start : s.end] for s in spans(text, 9)] == ["Keep this.", "And this."]
