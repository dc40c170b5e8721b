"""How a question and a text become word pieces: `[CLS] question [SEP] headings : text [SEP]`.

The model was trained on this layout (`training/encode.py`); a longer text is read in windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from quire.reading.port import Readable
from quire.reading.tables import spoken

if TYPE_CHECKING:
    from tokenizers import Tokenizer

CLS: Final = 101
SEP: Final = 102
COLON: Final = 1024
QUESTION: Final = 64
HEADINGS: Final = 40
CONTEXT: Final = 300
"""Word pieces of headings and text that are read at once."""
OVERLAP: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Window:
    """One row of a batch: the pieces `first` and on of a text, after the question and headings."""

    text: int
    """Which text it is of."""
    first: int
    ids: list[int]
    begin: int
    """Where in `ids` the text begins."""
    question: int
    """Pieces of the question, with the two marks around it."""

    @property
    def pieces(self) -> int:
        """How many pieces of the text it holds."""
        return len(self.ids) - 1 - self.begin


class Encoder:
    """The tokenizer, and the layout of a pair."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer: Tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def question(self, question: str) -> list[int]:
        """The question between its marks."""
        return [CLS, *self._pieces(question)[0][:QUESTION], SEP]

    def windows(
        self, question: list[int], number: int, readable: Readable
    ) -> tuple[list[Window], NDArray[np.int32]]:
        """The rows that together read a text, and where each of its pieces stands."""
        head = self._pieces(readable.headings)[0][-HEADINGS:]
        head = [*head, COLON] if head else []
        said = spoken(readable.text)
        ids, offsets = self._pieces(said.text if said else readable.text)
        places = np.array(offsets, np.int32).reshape(-1, 2)
        rows = [
            Window(
                text=number,
                first=first,
                ids=[*question, *head, *ids[first:last], SEP],
                begin=len(question) + len(head),
                question=len(question),
            )
            for first, last in spans(len(ids), CONTEXT - len(head))
        ]
        return rows, said.places(places) if said else places

    def _pieces(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        # JSON can carry lone surrogates, which no tokenizer accepts; offsets stay true.
        encodable = text.encode("utf-8", "replace").decode()
        encoding = self._tokenizer.encode(encodable, add_special_tokens=False)
        return encoding.ids, encoding.offsets


def spans(pieces: int, room: int) -> Iterator[tuple[int, int]]:
    """Ranges of at most `room` that cover all pieces, each overlapping the one before."""
    first = 0
    while first + room < pieces:
        yield first, first + room
        first += room - OVERLAP
    yield first, pieces
