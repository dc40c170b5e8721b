from __future__ import annotations

import re
from pathlib import Path

import pytest

from quire.evaluation.asking import evaluate_answers
from quire.evaluation.questions import Question
from quire.evaluation.report import page_shares, render
from quire.evaluation.retrieval import evaluate_retrieval
from quire.evaluation.runs import Run, answers_run, retrieval_run
from tests.unit.evaluation.library import ScriptedLibrary, book_of, citation, passage

PAGES = {"one/a.md": "# A\n\nA node does one job.\n", "two/b.md": "# B\n\nOther.\n"}
QUESTIONS = [
    Question(id="1", text="good <b>", relevant=("one/a.md",), answers=("one job",), group="x"),
    Question(id="2", text="missed", relevant=("two/b.md",), group="y"),
    Question(id="3", text="foreign", answerable=False, group="y"),
]


@pytest.fixture
async def runs(tmp_path: Path) -> dict[str, Run]:
    library = ScriptedLibrary(
        found={
            "good <b>": [passage("one/a.md", "<script>x</script>")],
            "missed": [passage("one/a.md")],
        },
        said={
            "good <b>": ("A node does one job.", [citation("one/a.md", "A node does one job.", 5)])
        },
        probabilities={"good <b>": 0.9, "missed": 0.3, "foreign": 0.2},
    )
    book = book_of(tmp_path, PAGES, library)
    files = [Path("questions.jsonl")]
    return {
        "retrieval": retrieval_run(await evaluate_retrieval(book, QUESTIONS), book, files),
        "answers": answers_run(await evaluate_answers(book, QUESTIONS), book, files),
    }


@pytest.mark.parametrize("kind", ["retrieval", "answers"])
def test_a_report_is_one_file_that_asks_nobody_for_anything(
    runs: dict[str, Run], kind: str
) -> None:
    html = render(runs[kind])
    outside = re.findall(r"(?:src|href|url|@import)[=(\s]", html)
    assert outside == []
    assert "<script>" not in html
    assert "<svg" in html


def test_the_worst_questions_show_what_was_found(runs: dict[str, Run]) -> None:
    html = render(runs["retrieval"])
    assert "missed" in html
    assert "not found" in html
    assert "one/a" in html


def test_answers_show_how_far_the_confidence_can_be_trusted(runs: dict[str, Run]) -> None:
    html = render(runs["answers"])
    assert "Reliability of the confidence" in html
    assert "Refusal: precision and recall" in html


def test_pages_are_shaded_by_the_share_of_questions_that_went_well(runs: dict[str, Run]) -> None:
    assert page_shares(runs["retrieval"]) == {
        "one": [("one/a", 1.0, 1)],
        "two": [("two/b", 0.0, 1)],
    }


def test_the_printed_object_has_the_measures_at_its_top(runs: dict[str, Run]) -> None:
    summary = runs["retrieval"].summary()
    for key in ("ndcg@10", "mrr@10", "recall@1", "recall@5", "recall@10", "n"):
        assert key in summary
    assert summary["n"] == 2
