import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.answering.draft import DraftStream, Segment, parse_draft

GOOD = json.dumps(
    {
        "segments": [
            {"text": 'One "a" {b}.', "passages": [1, 2]},
            {"text": "Two.", "passages": ["3"]},
        ]
    }
)
EXPECTED = [Segment(text='One "a" {b}.', passages=(1, 2)), Segment(text="Two.", passages=(3,))]


def test_a_draft_is_read_whole() -> None:
    assert parse_draft(GOOD) == EXPECTED


@pytest.mark.parametrize("size", [1, 3, 7, 50])
def test_a_draft_is_read_as_it_arrives(size: int) -> None:
    stream = DraftStream()
    found: list[Segment] = []
    for i in range(0, len(GOOD), size):
        found += stream.feed(GOOD[i : i + size])
    assert [*found, *stream.finish()] == EXPECTED


def test_a_segment_is_given_out_before_the_draft_ends() -> None:
    stream = DraftStream()
    assert stream.feed(GOOD[: GOOD.index("Two")]) == EXPECTED[:1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  ", []),
        ("Just prose [1].", [Segment(text="Just prose [1].")]),
        (f"```json\n{GOOD}\n```", EXPECTED),
        (f"Here you are:\n{GOOD}\nBye.", EXPECTED),
        (f'<think>{{"segments": [hm</think>{GOOD}', EXPECTED),
        ('{"segments": []}', []),
        ('[{"text": "A.", "passages": 1}]', [Segment(text="A.", passages=(1,))]),
        ('{"text": "A.", "passages": ["[2]"]}', [Segment(text="A.", passages=(2,))]),
        ('{"answer": "A [1]."}', [Segment(text="A [1].")]),
        ('{"segments":[{"text":"A.","passages":[1],},]}', [Segment(text="A.", passages=(1,))]),
        ('{"segments":[{"text":"A\nb.","passages":[1]}]}', [Segment(text="A\nb.", passages=(1,))]),
        (
            '{"segments":[{"text":"A.","passages":[1]},{"text":"cut of',
            [Segment(text="A.", passages=(1,))],
        ),
        ('{"segments":[{"text": 5}, {"passages":[1]}, {"text":" "}]}', []),
        (
            '{"segments":[{"text":"A.","passages":[true,null,1.0,"x"]}]}',
            [Segment(text="A.", passages=(1,))],
        ),
    ],
)
def test_what_models_write_instead_is_read_too(text: str, expected: list[Segment]) -> None:
    assert parse_draft(text) == expected
    stream = DraftStream()
    assert [*stream.feed(text), *stream.finish()] == expected


@given(st.text(alphabet='{}[]",:\\ \n1tsegmxpa"', max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    stream = DraftStream()
    stream.feed(text)
    stream.finish()
    parse_draft(text)
