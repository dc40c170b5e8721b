"""Whether quoted words prove a sentence, judged by the reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from quire.answering.ports import Claim
from quire.reading import Readable, Reader
from quire.retrieval.calibration import Logistic

_SUPPORT: Final = Logistic(bias=-0.74, weights={"relevant": 0.584})
"""Fitted on sentences people wrote from given passages, against passages about the same words."""


class ReaderSupport:
    """Reads the evidence with the sentence in the place of the question."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def score(self, claims: Sequence[Claim]) -> list[float]:
        """The probability that the evidence says what the sentence says, per claim."""
        scores: list[float] = []
        for claim in claims:
            (reading,) = await self._reader.read(claim.sentence, [Readable(claim.evidence)])
            scores.append(_SUPPORT.probability({"relevant": reading.relevant}))
        return scores
