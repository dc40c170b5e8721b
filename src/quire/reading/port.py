"""What a reader makes of a question and a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

LONGEST_ANSWER: Final = 40
"""Word pieces of an exact answer, at most."""


@dataclass(frozen=True, slots=True)
class Readable:
    """A text, and the headings it stands under (`Title > Section`)."""

    text: str
    headings: str = ""


def as_readable(text: str, *headings: str | None) -> Readable:
    """A text under headings, of which empty and repeated ones are left out."""
    return Readable(text, " > ".join(dict.fromkeys(filter(None, headings))))


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a range of a text answers; all scores are logits, comparable within one question."""

    mean: float
    """The evidence of its words, on average."""
    span: float
    """How well an exact answer begins and ends in it."""
    answer: tuple[int, int]
    """The best exact answer in it, as offsets into the text."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a reader makes of one text: a logit per word piece, and of the whole."""

    offsets: NDArray[np.int32]
    """Where each word piece stands in the text: (pieces, 2)."""
    tokens: NDArray[np.float32]
    """Answer begins, answer ends, evidence: (pieces, 3)."""
    answerable: float
    relevant: float

    def of(self, start: int, end: int) -> Evidence | None:
        """The evidence of `text[start:end]`; None if no word of it was read."""
        first, last = np.searchsorted(self.offsets[:, 0], (start, end))
        if first >= last:
            return None
        begins, ends, evidence = self.tokens[first:last].T
        pieces, longest = len(begins), min(len(begins), LONGEST_ANSWER + 1)
        later = np.full(pieces + longest - 1, -np.inf, dtype=np.float32)
        later[:pieces] = ends
        both = begins[:, None] + later[np.arange(pieces)[:, None] + np.arange(longest)]
        a, more = np.unravel_index(int(both.argmax()), both.shape)
        offsets = self.offsets[first:last]
        return Evidence(
            mean=float(evidence.mean()),
            span=float(begins.max() + ends.max()),
            answer=(int(offsets[a, 0]), int(offsets[a + more, 1])),
        )


class Reader(Protocol):
    """Reads texts with a question in mind."""

    async def read(self, question: str, texts: Sequence[Readable]) -> list[Reading]:
        """One reading per text, in input order."""
        ...

    async def close(self) -> None:
        """Free the model."""
        ...
