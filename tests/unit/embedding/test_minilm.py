"""The MiniLM embedder: order, batches, concurrency, late loading."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from quire.embedding.minilm import BATCH_TOKENS, MinilmEmbedder, _batches
from quire.errors import ModelFilesError

TEXTS = [
    "word",
    "",
    "A topic is a named bus for messages. " * 12,
    "How do nodes find each other?",
    "import rclpy\nrclpy.init()",
    "Répétez: 机器人 🤖",
    "The simulator advances in fixed steps. " * 80,
]


@pytest.fixture(params=["fp32", "int8"])
async def embedder(
    request: pytest.FixtureRequest, model_cache: Path
) -> AsyncIterator[MinilmEmbedder]:
    made = MinilmEmbedder(model_cache, precision=request.param)
    yield made
    await made.close()


async def test_a_mixed_batch_equals_one_by_one(embedder: MinilmEmbedder) -> None:
    together = await embedder.embed_documents(TEXTS)
    alone = np.stack([await embedder.embed_query(text) for text in TEXTS])
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.sum(together * alone, axis=1), 1.0, atol=1e-4)


async def test_rows_follow_the_order_of_the_texts(embedder: MinilmEmbedder) -> None:
    forward = await embedder.embed_documents(TEXTS)
    backward = await embedder.embed_documents(TEXTS[::-1])
    np.testing.assert_allclose(np.sum(forward * backward[::-1], axis=1), 1.0, atol=1e-4)


async def test_only_the_window_of_a_very_long_text_counts(embedder: MinilmEmbedder) -> None:
    start = "robot arm " * 127
    first, second = await embedder.embed_documents([start, start + "gardening and tea " * 20_000])
    assert embedder.count_tokens(start) == embedder.max_tokens
    np.testing.assert_allclose(first, second, atol=1e-4)


async def test_lone_surrogates_are_embedded(embedder: MinilmEmbedder) -> None:
    vector = await embedder.embed_query("broken \ud83d emoji")
    assert np.isfinite(vector).all()
    assert embedder.count_tokens("\ud83d") >= 0


async def test_questions_are_answered_while_documents_are_embedded(model_cache: Path) -> None:
    embedder = MinilmEmbedder(model_cache)
    await embedder.warm()
    documents = asyncio.create_task(embedder.embed_documents(TEXTS[2:3] * 150))
    await asyncio.sleep(0.05)
    started = time.monotonic()
    await asyncio.gather(*(embedder.embed_query(f"question {n}") for n in range(8)))
    assert not documents.done(), f"8 questions took {time.monotonic() - started:.1f} s"
    assert (await documents).shape == (150, embedder.dimension)
    await embedder.close()


async def test_a_cancelled_call_leaves_the_embedder_usable(model_cache: Path) -> None:
    embedder = MinilmEmbedder(model_cache)
    documents = asyncio.create_task(embedder.embed_documents(TEXTS[2:3] * 100))
    await asyncio.sleep(0.2)
    documents.cancel()
    with pytest.raises(asyncio.CancelledError):
        await documents
    assert (await embedder.embed_documents(["again"])).shape == (1, 384)
    await embedder.close()


async def test_precisions_share_one_space(model_cache: Path) -> None:
    fp32, int8 = (MinilmEmbedder(model_cache, precision=p) for p in ("fp32", "int8"))
    assert fp32.name == int8.name
    assert await fp32.warm() == "fp32"
    assert await int8.warm() == "int8"
    a, b = [await each.embed_documents(TEXTS) for each in (fp32, int8)]
    assert np.sum(a * b, axis=1).mean() >= 0.99
    await fp32.close()
    await int8.close()


async def test_auto_takes_what_the_check_at_build_time_chose(model_cache: Path) -> None:
    embedder = MinilmEmbedder(model_cache)
    chosen = await embedder.warm()
    check = embedder.store.ensure().check
    faster = check.int8_texts_per_second > check.fp32_texts_per_second
    assert chosen == check.chosen == ("int8" if check.cosine >= 0.99 and faster else "fp32")
    await embedder.close()


async def test_a_model_that_cannot_be_had_fails_on_use_and_not_before(tmp_path: Path) -> None:
    embedder = MinilmEmbedder(tmp_path, source=tmp_path / "nothing.whl")
    assert (embedder.name, embedder.dimension) == ("minilm-l6-v2", 384)
    with pytest.raises(ModelFilesError):
        await embedder.embed_query("x")
    await embedder.close()


def test_importing_loads_no_heavy_library_and_using_it_no_pytorch(model_cache: Path) -> None:
    program = f"""
import sys, asyncio
from pathlib import Path
from quire.embedding.minilm import MinilmEmbedder
embedder = MinilmEmbedder(Path({str(model_cache)!r}))
assert not {{"onnx", "onnxruntime", "tokenizers", "filelock"}} & set(sys.modules)
asyncio.run(embedder.embed_query("hello"))
assert not {{"torch", "transformers", "onnx"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_batches_hold_every_row_once_within_the_budget() -> None:
    lengths = [int(n) for n in np.random.default_rng(0).integers(2, 257, 500)]
    batches = list(_batches(lengths))
    assert sorted(row for batch in batches for row in batch) == list(range(500))
    padded = [len(batch) * max(lengths[row] for row in batch) for batch in batches]
    assert max(padded) <= BATCH_TOKENS
    assert sum(padded) <= 1.08 * sum(lengths)
