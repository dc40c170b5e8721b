"""The commands as a person uses them, each with a data folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Terminal

pytestmark = pytest.mark.xdist_group("small book")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Terminal:
    """A terminal over a little book of its own, in a path with a space."""
    root = tmp_path_factory.mktemp("a small place")
    book = root / "book"
    (book / "guide").mkdir(parents=True)
    (book / "guide" / "install.md").write_text(
        "# Installing\n\n## Requirements\n\nThe rover needs a battery of 24 volts.\n\n"
        "## Steps\n\n1. Charge the battery.\n2. Close the lid.\n",
        encoding="utf-8",
    )
    (book / "index.md").write_text(
        "# Rover\n\nThe rover is a small robot that maps caves.\n", encoding="utf-8"
    )
    return Terminal(root / "home", model_cache)


@pytest.fixture(scope="module")
def job(small: Terminal) -> dict[str, Any]:
    return small.json("ingest", str(small.home.parent / "book"))


def test_the_job_counts_every_page(job: dict[str, Any]) -> None:
    assert job["status"] == "completed"
    assert job["files_discovered"] == 2
    done = job["files_processed"] + job["files_skipped"] + job["files_failed"]
    assert done == job["files_discovered"]
    assert job["embedded"] == job["chunks_created"] > 0
    assert isinstance(job["duration_seconds"], int)


def test_ask_prints_the_answer_and_its_sources(small: Terminal, job: dict[str, Any]) -> None:
    answer = small.json("ask", "How many volts does the battery need?")
    assert "24 volts" in answer["answer"]
    source = answer["sources"][0]
    text = (small.home.parent / "book" / source["source_file"]).read_text(encoding="utf-8")
    assert text[source["char_start"] : source["char_end"]] == source["quote"]
    shown = small("ask", "How many volts does the battery need?").stdout
    assert "24 volts" in shown
    assert "guide/install.md:5" in shown


def test_a_refusal_names_what_the_book_covers_once(small: Terminal, job: dict[str, Any]) -> None:
    shown = small("ask", "Who won the football world cup in 1954?").stdout
    assert shown.splitlines()[0].rstrip() == "The book doesn't answer that."
    assert shown.count("Requirements") == 1


def test_a_greeting_is_replied_to_without_figures(small: Terminal, job: dict[str, Any]) -> None:
    greeted = small("ask", "Hello!").stdout
    assert greeted.startswith("Hello. What would you like to know about")
    assert "confidence" not in greeted


def test_a_second_ingest_embeds_nothing(small: Terminal, job: dict[str, Any]) -> None:
    again = small.json("ingest", str(small.home.parent / "book"))
    assert (again["embedded"], again["chunks_created"], again["chunks_deleted"]) == (0, 0, 0)
    assert again["files_skipped"] == 2
    plan = small.json("ingest", str(small.home.parent / "book"), "--dry-run")
    assert plan["new"] == plan["modified"] == plan["deleted"] == []


def test_search_finds_with_and_without_json(small: Terminal, job: dict[str, Any]) -> None:
    found = small.json("search", "battery volts", "--limit", "1")
    assert "24 volts" in found["results"][0]["text"]
    assert "Requirements" in small("search", "battery volts").stdout


def test_a_bad_page_is_named_and_the_others_are_ingested(
    small: Terminal, job: dict[str, Any]
) -> None:
    bad = small.home.parent / "book" / "bad.md"
    bad.write_bytes(b"# Bad\n\nnot utf-8: \xff\xfe here\n")
    try:
        planned = small("ingest", str(bad.parent), "--dry-run", code=1)
        assert "bad.md: " in planned.stderr
        assert "0 new" in planned.stdout
        assert "1 failing" in planned.stdout
        done = small("ingest", str(bad.parent), code=1)
        assert "bad.md:3" in done.stderr
        report = small.json("ingest", str(bad.parent), code=1)
        assert report["files_failed"] == 1
        assert report["status"] == "completed"
        found = {check["name"]: check for check in small.json("doctor", code=1)["checks"]}
        assert "bad.md: is not UTF-8" in found["pages"]["message"]
        assert found["pages"]["fix"].endswith(str(bad.parent))
    finally:
        bad.unlink()
        small.json("ingest", str(bad.parent))


def test_bad_input_is_one_clear_line(small: Terminal, job: dict[str, Any], tmp_path: Path) -> None:
    missing = small("ingest", str(tmp_path / "nowhere"), code=2)
    assert missing.stderr.count("\n") <= 2
    assert "nowhere" in missing.stderr.replace("\n", "")
    assert small.json("ask", "x", "--book-id", "none", code=2)["error_code"] == "not_found"
    bad = small("ask", "x", code=1, AGENT_TOP_K="99")
    assert "AGENT_TOP_K" in bad.stderr


def test_an_empty_folder_says_so(tmp_path: Path, model_cache: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = Terminal(tmp_path / "home", model_cache)("ingest", str(empty), code=1)
    assert "no pages" in done.stderr


def test_without_a_book_the_way_in_is_shown(tmp_path: Path, model_cache: Path) -> None:
    fresh = Terminal(tmp_path / "home", model_cache)
    assert "quire ingest" in fresh("ask", "x", code=2).stderr.replace("\n", " ")


def test_doctor_checks_everything(small: Terminal, job: dict[str, Any]) -> None:
    report = small.json("doctor")
    assert report["ok"]
    names = {check["name"] for check in report["checks"]}
    assert {"versions", "disk", "model", "index", "database", "book"} <= names


def test_models_are_listed(small: Terminal) -> None:
    assert small.json("models", "list")["models"][0]["problem"] is None


def test_help_names_every_command(small: Terminal) -> None:
    text = small("--help").stdout
    for command in ("demo", "ingest", "ask", "search", "serve", "models", "doctor"):
        assert command in text
