from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quire.errors import InvalidRequest, NotFound
from quire.evaluation.comparison import compare
from quire.evaluation.runs import Run, Runs, read_run


def run(name: str, ndcg: dict[str, float], kind: Any = "retrieval") -> Run:
    rows = tuple(
        {"id": id, "question": f"{id}?", "rank": 1, "values": {"ndcg@10": value}}
        for id, value in ndcg.items()
    )
    return Run(
        kind=kind,
        name=name,
        created_at="2026-01-01T00:00:00+00:00",
        corpus="c",
        questions_file="q",
        settings={},
        metrics={"ndcg@10": sum(ndcg.values()) / len(ndcg), "n": len(ndcg)},
        intervals={"ndcg@10": (0.1, 0.2)},
        questions=rows,
    )


def test_questions_that_moved_come_largest_first() -> None:
    found = compare(
        run("a", {"1": 1, "2": 0, "3": 0.5, "4": 1}), run("b", {"1": 0.5, "2": 1, "3": 0.6, "4": 1})
    )
    assert [q.id for q in found.better] == ["2", "3"]
    assert [q.id for q in found.worse] == ["1"]
    assert found.unchanged == 1
    assert {c.name: c.better for c in found.changes} == {"ndcg@10": True, "n": None}


def test_questions_of_one_run_alone_are_counted() -> None:
    found = compare(run("a", {"1": 1, "2": 1}), run("b", {"2": 1, "3": 1}))
    assert (found.only_before, found.only_after, found.unchanged) == (1, 1, 1)


def test_runs_of_different_kinds_are_not_compared() -> None:
    with pytest.raises(InvalidRequest, match="can't be compared"):
        compare(run("a", {"1": 1}), run("b", {"1": 1}, kind="answers"))


def test_a_run_survives_being_saved_and_is_found_by_part_of_its_name(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    saved = run("20260101T000000-retrieval-x", {"1": 1})
    path = runs.save(saved)
    assert runs.save(saved) != path
    loaded = read_run(path)
    assert loaded.questions == saved.questions
    assert loaded.metrics == saved.metrics
    with pytest.raises(InvalidRequest, match="several"):
        runs.load("retrieval")
    with pytest.raises(NotFound):
        runs.load("absent")
    assert runs.load("20260101T000000-retrieval-x").name == saved.name


def test_a_file_that_is_no_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("[]")
    with pytest.raises(InvalidRequest, match="not a saved run"):
        read_run(path)
