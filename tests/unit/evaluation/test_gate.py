from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from quire.errors import InvalidRequest
from quire.evaluation.gate import Baseline, GatedQuestion, judge, make_baseline, read_baseline
from quire.evaluation.gate_reports import junit, markdown


def question(id: str, *, passed: bool) -> GatedQuestion:
    return GatedQuestion(
        id=id, question="What | is <x>?", expected="a", outcome="refused", passed=passed
    )


def baseline(**metrics: float) -> Baseline:
    return Baseline(metrics=metrics, passed={"1": True, "2": False})


def test_a_measure_may_fall_by_its_tolerance_and_no_further() -> None:
    kept = baseline(**{"recall@5": 0.9})
    assert judge({"recall@5": 0.88}, [], kept).passed
    assert not judge({"recall@5": 0.879}, [], kept).passed


def test_a_rate_of_mistakes_may_rise_by_its_tolerance_and_no_further() -> None:
    kept = baseline(false_answer_rate=0.1)
    assert judge({"false_answer_rate": 0.13}, [], kept).passed
    assert not judge({"false_answer_rate": 0.131}, [], kept).passed


def test_an_inexact_citation_is_never_tolerated() -> None:
    assert not judge({"citation_exact": 0.999}, [], baseline(citation_exact=1.0)).passed


def test_without_a_baseline_everything_passes() -> None:
    verdict = judge({"recall@5": 0.0}, [question("1", passed=False)], None)
    assert verdict.passed
    assert not verdict.has_baseline


def test_questions_that_changed_are_named() -> None:
    questions = [
        question("1", passed=False),
        question("2", passed=True),
        question("3", passed=False),
    ]
    verdict = judge({}, questions, baseline())
    assert verdict.newly_failing == ["1"]
    assert verdict.newly_passing == ["2"]


def test_a_baseline_survives_being_stored(tmp_path: Path) -> None:
    made = make_baseline({"recall@5": 0.9}, [question("1", passed=True)], made_with={"quire": "1"})
    path = tmp_path / "gate-baseline.json"
    path.write_text(made.to_json())
    assert read_baseline(path) == made
    assert read_baseline(tmp_path / "absent.json") is None


def test_an_authors_tolerances_survive_an_update() -> None:
    previous = Baseline(metrics={}, passed={}, tolerances={"recall@5": 0.1})
    made = make_baseline({}, [], made_with={}, previous=previous)
    assert made.tolerances["recall@5"] == 0.1
    assert made.tolerances["citation_exact"] == 0.0


def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text('{"metric": 1}')
    with pytest.raises(InvalidRequest, match="--update-baseline"):
        read_baseline(path)


def test_junit_fails_a_question_only_when_the_gate_fails() -> None:
    questions = [question("1", passed=False), question("2", passed=False)]
    kept = baseline(**{"recall@5": 0.9})

    def problems(value: float) -> list[str]:
        root = ET.fromstring(junit(judge({"recall@5": value}, questions, kept), book="b"))
        return [child.tag for case in root.iter("testcase") for child in case]

    assert problems(0.9) == ["skipped", "skipped"]
    assert problems(0.5) == ["failure", "failure", "skipped"]


def test_markdown_escapes_what_would_break_the_table() -> None:
    text = markdown(judge({"recall@5": 0.5}, [question("1", passed=False)], baseline()), book="b")
    assert "What \\| is &lt;x>?" in text
    assert "Newly failing" in text
