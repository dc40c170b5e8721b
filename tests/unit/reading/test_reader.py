import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from quire.errors import ModelFilesError
from quire.reading import Readable, Reading, as_readable
from quire.reading.encoding import OVERLAP, spans
from quire.reading.model import ReaderModel

MOTORS = Readable(
    "The base has two motors. Each motor draws 4 amperes at full load. The casing is painted blue.",
    "Drive > Motors",
)
QUESTION = "How much current does a motor draw?"


@pytest.fixture(scope="module")
def reader() -> ReaderModel:
    return ReaderModel(threads=1)


async def test_the_answering_sentence_has_the_most_evidence(reader: ReaderModel) -> None:
    (reading,) = await reader.read(QUESTION, [MOTORS])
    sentences = [(0, 24), (25, 65), (66, 93)]
    found = [reading.of(*sentence) for sentence in sentences]
    assert [max(e.mean for e in found if e) == e.mean for e in found if e] == [False, True, False]
    best = found[1]
    assert best is not None
    assert "4" in MOTORS.text[slice(*best.answer)]
    assert best.answer[1] - best.answer[0] < 20


async def test_it_knows_when_there_is_no_answer(reader: ReaderModel) -> None:
    (answers,) = await reader.read(QUESTION, [MOTORS])
    (off,) = await reader.read("Who painted the Mona Lisa?", [MOTORS])
    assert answers.answerable > off.answerable + 4
    assert answers.relevant > off.relevant + 4
    assert off.answerable < -3


async def test_a_long_text_is_read_to_its_end(reader: ReaderModel) -> None:
    filler = "The workshop has a window and a door. " * 60
    long = Readable(filler + MOTORS.text, MOTORS.headings)
    (reading,) = await reader.read(QUESTION, [long])
    at = long.text.index("Each motor")
    late, early = reading.of(at, at + 40), reading.of(0, 37)
    assert late is not None
    assert early is not None
    assert late.mean > early.mean + 3
    (without,) = await reader.read(QUESTION, [Readable(filler, MOTORS.headings)])
    assert reading.answerable > without.answerable + 2
    assert len(reading.offsets) == len(reading.tokens) > 500


async def test_texts_do_not_influence_each_other(reader: ReaderModel) -> None:
    other = Readable("Motors turn. " * 30)
    alone = (await ReaderModel(threads=1).read(QUESTION, [MOTORS]))[0]
    beside = (await ReaderModel(threads=1).read(QUESTION, [other, MOTORS]))[1]
    assert np.abs(alone.tokens - beside.tokens).max() < 0.5
    assert abs(alone.answerable - beside.answerable) < 0.2


async def test_what_was_read_is_not_read_again(reader: ReaderModel) -> None:
    first = await reader.read(QUESTION, [MOTORS])
    again = await reader.read(QUESTION, [MOTORS, MOTORS])
    assert again == [first[0], first[0]]
    assert (await reader.read("What colour is it?", [MOTORS]))[0] is not first[0]


async def test_odd_texts_are_read_too(reader: ReaderModel) -> None:
    texts = [Readable(""), Readable("\ud800 lone"), Readable("  \n"), Readable("🤖 ok", "A > B")]
    readings = await reader.read("?", texts)
    assert [len(r.offsets) == len(r.tokens) for r in readings] == [True] * 4
    assert readings[0].of(0, 1) is None
    assert await reader.read("anything", []) == []


async def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="reader"):
        await ReaderModel(tmp_path).read("q", [MOTORS])


def test_windows_cover_everything_and_overlap() -> None:
    assert list(spans(0, 300)) == [(0, 0)]
    assert list(spans(300, 300)) == [(0, 300)]
    windows = list(spans(1000, 300))
    assert (windows[0][0], windows[-1][1]) == (0, 1000)
    for (_, end), (start, _) in pairwise(windows):
        assert end - start == OVERLAP


def test_an_answer_neither_ends_before_it_begins_nor_runs_on() -> None:
    offsets = np.array([[i, i + 1] for i in range(100)], np.int32)
    tokens = np.zeros((100, 3), np.float32)
    tokens[60, 0] = tokens[10, 1] = 9.0
    found = Reading(offsets, tokens, 0.0, 0.0).of(0, 100)
    assert found is not None
    assert 0 < found.answer[1] - found.answer[0] <= 41


def test_a_long_run_without_a_full_stop_is_read_in_no_time() -> None:
    offsets = np.array([[i, i + 1] for i in range(10_000)], np.int32)
    tokens = np.zeros((10_000, 3), np.float32)
    tokens[9990, 0] = tokens[9995, 1] = 9.0
    began = time.thread_time()
    found = Reading(offsets, tokens, 0.0, 0.0).of(0, 10_000)
    assert time.thread_time() - began < 0.2
    assert found is not None
    assert found.answer == (9990, 9996)


def test_headings_stand_once() -> None:
    assert as_readable("x", "Nav2", "Nav2").headings == "Nav2"
    assert as_readable("x", "Nav2", None, "Costmaps").headings == "Nav2 > Costmaps"
