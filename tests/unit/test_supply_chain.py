"""What is installed is pinned, hashed and licensed; what the documents promise exists."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).parents[2]


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_every_pin_has_hashes_and_names_no_host() -> None:
    pins = re.findall(r"^\S+==\S+$", (REPOSITORY / "constraints.txt").read_text(), re.MULTILINE)
    known = script("pin").known_hashes()
    assert sorted(known) == sorted(pins)
    assert all(known.values())
    for name in ("constraints.txt", "constraints-hashes.txt"):
        text = (REPOSITORY / name).read_text()
        assert not re.search(r"://|--index|--extra|--find|\.(org|com|io)\b", text)


def test_no_licence_is_unknown_or_forbidden() -> None:
    licences = script("licences")
    found = [*licences.installed(), *licences.bundled()]
    assert len(found) > 100
    assert licences.problems(found) == []


def test_a_forbidden_licence_is_found() -> None:
    licences = script("licences")
    for licence, allowed in {
        "AGPL-3.0-only": False,
        "MIT AND GPL-3.0-only": False,
        "MIT OR GPL-3.0-only": True,
        "unknown": False,
        "(MPL-2.0 OR Apache-2.0)": True,
        "Apache-2.0 WITH LLVM-exception": True,
    }.items():
        entry = licences.Licensed("some", "1", licence, "program")
        assert licences.is_allowed(entry) == allowed, licence


@pytest.mark.parametrize("document", ["SECURITY.md", "docs/trust.md"])
def test_every_test_a_document_names_exists(document: str) -> None:
    text = (REPOSITORY / document).read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)", text)
    assert len(named) > 10
    for path, name in named:
        assert f"def {name}(" in (REPOSITORY / path).read_text(), f"{path}::{name}"
