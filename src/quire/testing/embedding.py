"""An embedder without a model: equal texts get equal vectors, shared words bring them closer."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Deterministic in every process; remembers what it was asked to embed.

    Each word adds a pseudo-random direction derived from its SHA-256. `delay` is awaited per
    call, to make time pass where a model would compute.
    """

    def __init__(
        self,
        *,
        name: str = "hash",
        dimension: int = 64,
        max_tokens: int = 256,
        delay: float = 0.0,
    ) -> None:
        self._name = name
        self._dimension = dimension
        self._max_tokens = max_tokens
        self.delay = delay
        self.documents: list[str] = []
        """Every text embedded as a document so far."""
        self.calls = 0
        self._words: dict[str, NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        """The vector space."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """The pretended window, in words."""
        return self._max_tokens

    def count_tokens(self, text: str) -> int:
        """Words and runs of punctuation count one each."""
        return len(re.findall(r"\w+|[^\w\s]+", text))

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector per text."""
        self.calls += 1
        self.documents.extend(texts)
        await asyncio.sleep(self.delay)
        rows = [self._embed(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self._dimension), np.float32)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector the same text has as a document."""
        await asyncio.sleep(self.delay)
        return self._embed(text)

    async def close(self) -> None:
        """Nothing to free."""

    def _embed(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self._dimension, np.float32)
        for word in _WORD.findall(text.lower()):
            vector += self._word(word)
        norm = float(np.linalg.norm(vector))
        if norm == 0.0:
            vector[0] = norm = 1.0
        return vector / np.float32(norm)

    def _word(self, word: str) -> NDArray[np.float32]:
        known = self._words.get(word)
        if known is None:
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
            known = np.random.default_rng(seed).standard_normal(self._dimension, np.float32)
            self._words[word] = known
        return known
