"""The graphs against what sentence-transformers itself computes (see the fixture's versions)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from quire.embedding.graph import GraphRunner
from quire.embedding.minilm import MinilmEmbedder
from quire.embedding.store import Precision
from quire.errors import ModelFilesError

REFERENCE = Path(__file__).parents[2] / "fixtures" / "minilm_reference.json"


@pytest.fixture(scope="module")
def reference() -> list[dict[str, Any]]:
    return json.loads(REFERENCE.read_text(encoding="utf-8"))["texts"]


async def cosines(embedder: MinilmEmbedder, reference: list[dict[str, Any]]) -> NDArray[np.float32]:
    ours = await embedder.embed_documents([entry["text"] for entry in reference])
    theirs = np.array([entry["vector"] for entry in reference], np.float32)
    await embedder.close()
    return np.sum(ours * theirs, axis=1)


@pytest.mark.parametrize(
    ("precision", "mean", "least"), [("fp32", 0.9999, 0.9999), ("int8", 0.99, 0.95)]
)
async def test_vectors_are_the_reference_models(
    model_cache: Path,
    reference: list[dict[str, Any]],
    precision: Precision,
    mean: float,
    least: float,
) -> None:
    found = await cosines(MinilmEmbedder(model_cache, precision=precision), reference)
    assert found.mean() >= mean
    assert found.min() >= least


async def test_tokens_are_counted_as_the_reference_counts_them(
    model_cache: Path, reference: list[dict[str, Any]]
) -> None:
    embedder = MinilmEmbedder(model_cache)
    for entry in reference:
        assert embedder.count_tokens(entry["text"]) + 2 == entry["tokens"], entry["label"]
    await embedder.close()


def test_a_damaged_graph_names_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "fp32.onnx").write_bytes(b"no graph at all")
    for name in ("fp32.onnx", "missing.onnx"):
        with pytest.raises(ModelFilesError, match="quire models pull"):
            GraphRunner(tmp_path / name)
