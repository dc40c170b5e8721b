from __future__ import annotations

from pathlib import Path

import pytest

from quire.errors import InvalidRequest
from quire.evaluation.thresholds import read_checks

TEXT = """
[[check]]
name = "small"
kind = "retrieval"
corpus = "set/md"
questions = "set/q.jsonl"
minimum = { "recall@5" = 0.8 }
maximum = { "false_answer_rate" = 0.1 }
"""


def test_broken_limits_are_named(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text(TEXT)
    (check,) = read_checks(file, data=tmp_path)
    assert not check.available
    assert check.problems({"recall@5": 0.8, "false_answer_rate": 0.1}) == []
    assert check.problems({"recall@5": 0.79, "false_answer_rate": 0.2}) == [
        "small: recall@5 is 0.790, below 0.800",
        "small: false_answer_rate is 0.200, above 0.100",
    ]
    assert check.problems({"recall@5": 0.9}) == ["small: false_answer_rate is missing, above 0.100"]


def test_a_check_without_a_corpus_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text('[[check]]\nname = "x"\nkind = "retrieval"\n')
    with pytest.raises(InvalidRequest, match="corpus"):
        read_checks(file, data=tmp_path)
