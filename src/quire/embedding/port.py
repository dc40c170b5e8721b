"""The port through which everything else asks for vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns text into unit-length vectors of one fixed dimension."""

    @property
    def name(self) -> str:
        """Identifies the vector space; recorded in the index."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """How much of a text the model sees; the splitter keeps chunks below it."""
        ...

    def count_tokens(self, text: str) -> int:
        """Length of the text in this model's tokens, special tokens not counted."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row per text, in input order."""
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The L2-normalised vector of a question."""
        ...

    async def close(self) -> None:
        """Free what the embedder holds; it can't be used afterwards."""
        ...
