"""Measuring as an author does it: a small book of his own, questions, a gate, a bad edit."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.acceptance.conftest import Terminal

PAGES = {
    "nodes.md": (
        "# Nodes\n\n## What is a node?\n\nA node is a participant in the robot's graph that does "
        "one job, such as reading a camera.\n\n## Names\n\nEvery node has a name that is unique "
        "in its namespace. [Topics](topics.md#remapping) carry what it says.\n"
    ),
    "topics.md": (
        "# Topics\n\n## What is a topic?\n\nA topic is a named channel over which nodes send "
        "messages of one fixed type.\n\n## Remapping\n\nTo remap a topic, pass "
        "`--ros-args -r old:=new` on the command line.\n"
    ),
    "batteries.md": (
        "# Batteries\n\n## Charging\n\nCharge a lithium battery at no more than one C, which is "
        "five amperes for a battery of five ampere hours. See [nowhere](gone.md).\n"
    ),
}
QUESTIONS = [
    {"id": "node", "question": "What is a node?", "expect": "nodes.md#what-is-a-node"},
    {"id": "remap", "question": "How do I remap a topic?", "expect": "topics"},
    {
        "id": "charge",
        "question": "How fast may I charge a lithium battery?",
        "expect": "batteries.md",
    },
    {"id": "wine", "question": "Which grapes does Burgundy grow?", "expect": "refuse"},
]
MEASURES = {"ndcg@10", "mrr@10", "recall@1", "recall@5", "recall@10", "n"}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "robot-book"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    rows = "\n".join(json.dumps(row) for row in QUESTIONS)
    (folder / "questions.jsonl").write_text(rows, encoding="utf-8")
    return folder


def test_retrieval_is_measured_and_the_second_run_embeds_nothing(
    terminal: Terminal, book: Path
) -> None:
    arguments = (
        "eval",
        "retrieval",
        "--corpus",
        str(book),
        "--questions",
        f"{book}/questions.jsonl",
    )
    first = terminal.json(*arguments)
    assert set(first) >= MEASURES
    assert first["n"] == 3
    assert first["recall@5"] == 1.0
    assert first["intervals"]["recall@5"] == [1.0, 1.0]
    assert first["settings"]["ingestion"]["embedded"] > 0
    second = terminal.json(*arguments, "--match", "section")
    assert second["settings"]["ingestion"]["embedded"] == 0
    assert second["n"] == 1
    assert Path(first["run"]).is_file()


def test_a_corpus_of_documents_is_measured_by_their_ids(terminal: Terminal, tmp_path: Path) -> None:
    documents = [{"_id": f"{n}#x", "title": n, "text": text} for n, text in PAGES.items()]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    questions = tmp_path / "q.jsonl"
    row = {"id": "a", "question": "What is a topic?", "relevant": ["topics.md#x"]}
    questions.write_text(json.dumps(row), encoding="utf-8")
    found = terminal.json(
        "eval", "retrieval", "--corpus", str(corpus), "--questions", str(questions)
    )
    assert found["recall@1"] == 1.0


def test_answers_are_measured_saved_compared_and_shown(
    terminal: Terminal, book: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    arguments = ("eval", "answers", "--corpus", str(book), "--questions", f"{book}/questions.jsonl")
    found = terminal.json(*arguments, "--html", str(page))
    assert found["n"] == found["answered"] + found["refused"] == 4
    assert found["citation_exact"] == 1.0
    assert found["false_answer_rate"] == 0.0
    for key in (
        *("false_refusal_rate", "auroc", "ece", "answer_contained", "citation_relevant"),
        *("answer_length", "latency_ms_p50", "tokens"),
    ):
        assert key in found
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    again = terminal.json(*arguments)
    comparison = terminal.json("eval", "compare", found["run"], again["run"])
    assert comparison["better"] == comparison["worse"] == []
    assert comparison["unchanged"] == 4
    name = Path(found["run"]).stem
    assert name in terminal.json("eval", "runs")["runs"]
    terminal("eval", "report", name, "--output", str(page))


def test_a_gate_passes_until_an_edit_breaks_an_answer(
    terminal: Terminal, book: Path, tmp_path: Path
) -> None:
    arguments = ("eval", "gate", "--book", str(book))
    stored = terminal.json(*arguments, "--update-baseline")
    assert stored["passed"]
    assert (book / "gate-baseline.json").is_file()
    assert terminal.json(*arguments)["passed"]
    (book / "batteries.md").write_text("# Batteries\n\nTo be written.\n", encoding="utf-8")
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    broken = terminal.json(*arguments, "--junit", str(junit), "--markdown", str(markdown), code=1)
    assert not broken["passed"]
    assert broken["newly_failing"] == ["charge"]
    assert ET.parse(junit).getroot().find(".//failure") is not None
    assert "Newly failing" in markdown.read_text(encoding="utf-8")


def test_coverage_needs_no_questions(terminal: Terminal, book: Path) -> None:
    found = terminal.json("eval", "coverage", "--corpus", str(book))
    assert found["pages"] == 3
    assert found["questions"] >= 3
    assert [(link["source_file"], link["target"]) for link in found["broken_links"]] == [
        ("batteries.md", "gone.md")
    ]


def test_a_calibration_is_fitted_and_written(
    terminal: Terminal, book: Path, tmp_path: Path
) -> None:
    output = tmp_path / "calibration.json"
    found = terminal.json(
        "calibrate", "--set", f"{book}={book}/questions.jsonl", "--output", str(output)
    )
    assert {"auroc", "ece", "n"} <= set(found)
    assert json.loads(output.read_text(encoding="utf-8"))["answerability"]["weights"]


def test_a_missing_file_is_one_line_and_an_error_object(terminal: Terminal, book: Path) -> None:
    done = terminal(
        "eval", "retrieval", "--corpus", str(book), "--questions", "absent.jsonl", code=2
    )
    assert "absent.jsonl" in done.stderr
    failed = terminal.json("eval", "gate", "--book", str(book / "absent"), code=2)
    assert failed["error_code"] == "not_found"


def test_a_benchmark_reports_ratios_and_its_machine(terminal: Terminal, book: Path) -> None:
    found = terminal.json("bench", "ingest", "--corpus", str(book))
    assert found["machine"]["cores"] >= 1
    (ingest,) = found["benchmarks"]
    again = next(row for row in ingest["rows"] if row["what"] == "again, nothing changed")
    assert again["ratio"] < 1
