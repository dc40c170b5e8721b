from __future__ import annotations

import subprocess
import sys

import quire

PUBLIC = {
    "Answer",
    "Ask",
    "Chunk",
    "Citation",
    "Confidence",
    "Filters",
    "Library",
    "Passage",
    "QuireError",
    "Retrieval",
    "Settings",
    "load_settings",
    "__version__",
}


def test_the_public_names_are_these_and_all_of_them_exist() -> None:
    assert set(quire.__all__) == PUBLIC
    for name in PUBLIC:
        assert getattr(quire, name) is not None


def test_importing_quire_loads_no_heavy_library() -> None:
    heavy = {"onnxruntime", "agents", "fastapi", "qdrant_edge", "sqlalchemy", "numpy"}
    code = f"import quire, sys; print(sorted({heavy} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_no_pytorch_in_the_environment() -> None:
    from importlib.metadata import distributions

    names = {(d.metadata["Name"] or "").lower() for d in distributions()}
    assert not {"torch", "tensorflow", "transformers"} & names
