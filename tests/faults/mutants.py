"""Mutants: the source with one check taken out, to see whether a test notices.

Sites are found in the syntax tree, so a new call site of a check is a new mutant by itself.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SOURCE = REPOSITORY / "src"

ISOLATION = "tests/faults/test_isolation.py"
CONVERSATIONS = "tests/contract/test_conversations.py"
INDEX = "tests/contract/test_index.py"
CITATIONS = "tests/unit/answering/test_citations.py"


@dataclass(frozen=True)
class Mutant:
    """One change of one file, and the tests that must fail because of it."""

    file: str
    line: int
    old: str
    new: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file.removeprefix('quire/')}:{self.line} {self.old[:60]}"


def tenant_mutants() -> list[Mutant]:
    """Everywhere a book or an owner narrows what is read or written."""
    found: list[Mutant] = []
    for path in sorted((SOURCE / "quire" / "api").rglob("*.py")):
        for node, text in calls(path):
            bound = isinstance(node, ast.Call) and text.startswith("caller.book(")
            if bound and text == "caller.book(None)":
                found.append(mutant(path, node, "None", ISOLATION))
            elif bound and isinstance(node, ast.Call):
                found.append(mutant(path, node, ast.unparse(node.args[0]), ISOLATION))
            if text.startswith("caller.sees("):
                found.append(mutant(path, node, "True", ISOLATION))
    for name in ("rows.py", "sql.py"):
        path = SOURCE / "quire" / "conversations" / name
        for node, text in comparisons(path):
            if text in ("ThreadRow.owner == owner", "ThreadRow.book_id == book_id"):
                found.append(mutant(path, node, "(ThreadRow.thread_id != '')", CONVERSATIONS))
    for name, column, tests in (
        ("conversations/review.py", "ThreadRow.book_id", ISOLATION),
        ("access/usage.py", "UsageRow.book_id", ISOLATION),
        ("ingestion/jobs.py", "JobRow.book_id", ISOLATION),
    ):
        path = SOURCE / "quire" / name
        for node, text in comparisons(path):
            if text == f"{column} == book_id":
                found.append(mutant(path, node, f"({column} != '')", tests))
    path = SOURCE / "quire" / "index" / "messages.py"
    for node, text in names(path):
        if text == "tenant":
            found.append(mutant(path, node, "*[]", INDEX))
    for node, text in calls(path):
        if text == "book_filter(book_id)" and "Idf" not in line_of(path, node):
            found.append(mutant(path, node, "models.Filter(must=[])", INDEX))
    path = SOURCE / "quire" / "index" / "server.py"
    for node, text in comparisons(path):
        if text.endswith("== book_id"):
            found.append(mutant(path, node, "True", INDEX))
    return found


def citation_mutants() -> list[Mutant]:
    """Every condition of the check of a citation, and every place that calls it."""
    found: list[Mutant] = []
    path = SOURCE / "quire" / "answering" / "citations.py"
    for node in ast.walk(ast.parse(path.read_text())):
        raises = isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise)
        if raises and isinstance(node, ast.If):
            found.append(mutant(path, node.test, "False", CITATIONS))
    for path in sorted((SOURCE / "quire" / "answering").rglob("*.py")):
        for node, text in calls(path):
            if text.startswith("verify_citation(") and isinstance(node, ast.Call):
                found.append(mutant(path, node, ast.unparse(node.args[0]), CITATIONS))
    return found


def mutant(path: Path, node: ast.expr, new: str, *tests: str) -> Mutant:
    old = ast.get_source_segment(path.read_text(), node)
    assert old is not None
    return Mutant(path.relative_to(SOURCE).as_posix(), node.lineno, old, new, tests)


def line_of(path: Path, node: ast.expr) -> str:
    return path.read_text().splitlines()[node.lineno - 1]


def calls(path: Path) -> Generator[tuple[ast.expr, str]]:
    yield from _nodes(path, ast.Call)


def comparisons(path: Path) -> Generator[tuple[ast.expr, str]]:
    yield from _nodes(path, ast.Compare)


def names(path: Path) -> Generator[tuple[ast.expr, str]]:
    """Names where they are read."""
    for node, text in _nodes(path, ast.Name):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node, text


def _nodes(path: Path, kind: type[ast.expr]) -> Generator[tuple[ast.expr, str]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, kind):
            yield node, ast.unparse(node)


def survives(mutant: Mutant, folder: Path) -> bool:
    """Whether the tests pass although the check is gone."""
    shutil.copytree(SOURCE, folder / "src", ignore=shutil.ignore_patterns("static", "__pycache__"))
    path = folder / "src" / mutant.file
    lines = path.read_text().splitlines(keepends=True)
    start = sum(map(len, lines[: mutant.line - 1]))
    text = "".join(lines)
    at = text.index(mutant.old, start)
    path.write_text(text[:at] + mutant.new + text[at + len(mutant.old) :])
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *mutant.tests]
    paths = os.pathsep.join((str(folder / "src"), str(REPOSITORY)))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("QUIRE_SOAK")}
    environment |= {"PYTHONPATH": paths, "FAULTS_QUICK": "1"}
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode in (0, 1), done.stdout[-2000:] + done.stderr[-2000:]
    return done.returncode == 0
