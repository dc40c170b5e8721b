"""A fake reader: it sees the phrases it was told of, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from quire.reading import Readable, Reading


class PhraseReader:
    """Marks a phrase as the answer wherever it stands; a text without one is not answerable."""

    def __init__(self, *phrases: str) -> None:
        self._phrases = phrases
        self.questions: list[str] = []

    async def read(self, question: str, texts: Sequence[Readable]) -> list[Reading]:
        """One reading per text, in input order."""
        self.questions.append(question)
        return [self._read(readable.text) for readable in texts]

    async def close(self) -> None:
        """Nothing to free."""

    def _read(self, text: str) -> Reading:
        words = list(re.finditer(r"\w+|[^\w\s]", text))
        offsets = np.array([word.span() for word in words], np.int32).reshape(-1, 2)
        tokens = np.full((len(words), 3), -8.0, np.float32)
        found = [phrase for phrase in self._phrases if phrase in text]
        for phrase in found:
            start = text.index(phrase)
            inside = (offsets[:, 0] >= start) & (offsets[:, 1] <= start + len(phrase))
            tokens[inside, 2] = 8.0
            tokens[np.flatnonzero(inside)[0], 0] = 8.0
            tokens[np.flatnonzero(inside)[-1], 1] = 8.0
        judged = 5.0 if found else -5.0
        return Reading(offsets, tokens, answerable=judged, relevant=judged)
