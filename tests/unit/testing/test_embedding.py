from __future__ import annotations

import subprocess
import sys

import numpy as np

from quire.embedding.port import Embedder
from quire.testing.embedding import HashEmbedder


async def test_vectors_have_unit_length_and_depend_on_the_text_alone():
    embedder: Embedder = HashEmbedder(dimension=32)
    texts = ["Nodes publish topics.", "", "Nodes publish topics."]
    rows = await embedder.embed_documents(texts)
    assert rows.shape == (3, 32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert np.array_equal(rows[0], rows[2])
    assert np.array_equal(rows[0], await embedder.embed_query(texts[0]))
    assert (await embedder.embed_documents([])).shape == (0, 32)


async def test_shared_words_bring_texts_closer():
    rows = await HashEmbedder().embed_documents(
        ["the robot moves its arm", "a robot with an arm", "completely different subject"]
    )
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_another_process_gives_the_same_vector():
    code = (
        "import asyncio; from quire.testing.embedding import HashEmbedder as H;"
        "print(asyncio.run(H(dimension=4).embed_query('a b')).tolist())"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1] != b""
