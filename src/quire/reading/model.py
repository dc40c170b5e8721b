"""The reader that ships with Quire: 22 M parameters in int8, on this machine's CPU."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from quire.embedding.cores import Cores
from quire.embedding.graph import open_session
from quire.reading.encoding import Encoder, Window
from quire.reading.port import Readable, Reading
from quire.reading.wording import as_question, asked_of

FOLDER: Final = Path(__file__).parent / "weights"
BATCH_TOKENS: Final = 256
"""Padded tokens of one batch: few enough to stay in a core's cache, and hardly any padding."""
REMEMBERED: Final = 512
_UNREAD: Final = -30.0


@dataclass(frozen=True)
class _Engine:
    session: Any
    encoder: Encoder


class ReaderModel:
    """Reads with the shipped model.

    What it read last is remembered: an answer is drafted from the passages that its confidence
    was judged on, and reading them is nearly all of the work.

    Args:
        folder: Where `reader.onnx` and `tokenizer.json` are.
        threads: Batches that are read at a time, each on one core; one a core by default.

    Nothing is loaded before the first call; a missing or broken file is a `ModelFilesError`.
    """

    def __init__(self, folder: Path = FOLDER, *, threads: int | None = None) -> None:
        self._folder = folder
        self._engine: _Engine | None = None
        self._loading = threading.Lock()
        self._cores = Cores("reader", threads)
        self._read: OrderedDict[tuple[str, Readable], Reading] = OrderedDict()

    async def read(self, question: str, texts: Sequence[Readable]) -> list[Reading]:
        """One reading per text, in input order."""
        question = as_question(question)
        pairs = [(asked_of(question, text), text) for text in texts]
        new = list(dict.fromkeys(pair for pair in pairs if pair not in self._read))
        readings = await self._forward(new) if new else []
        fresh = dict(zip(new, readings, strict=True))
        found = [fresh[pair] if pair in fresh else self._read[pair] for pair in pairs]
        for pair, reading in zip(pairs, found, strict=True):
            self._read[pair] = reading
            self._read.move_to_end(pair)
        while len(self._read) > REMEMBERED:
            self._read.popitem(last=False)
        return found

    async def close(self) -> None:
        """Finish what is being read and free the model."""
        await self._cores.close()
        self._engine = None
        self._read.clear()

    def _load(self) -> _Engine:
        with self._loading:
            if self._engine is None:
                self._engine = _Engine(
                    session=open_session(
                        self._folder / "reader.onnx",
                        threads=1,
                        remedy="install Quire again, or set QUIRE_READER=off",
                    ),
                    encoder=Encoder(self._folder / "tokenizer.json"),
                )
            return self._engine

    async def _forward(self, pairs: Sequence[tuple[str, Readable]]) -> list[Reading]:
        engine = await self._cores.run(self._load)
        windows, readings = await self._cores.run(lambda: _laid_out(engine.encoder, pairs))
        entering = threading.Lock()

        def read(batch: list[Window]) -> None:
            token, whole = engine.session.run(["token_logits", "passage_logits"], padded(batch))
            with entering:
                for row, window in enumerate(batch):
                    _enter(readings, window, token[row], whole[row])

        await self._cores.each(read, batches(windows))
        return readings


def _laid_out(
    encoder: Encoder, pairs: Sequence[tuple[str, Readable]]
) -> tuple[list[Window], list[Reading]]:
    """What is to be read of each text, and room for what will be said of it."""
    asked = {question: encoder.question(question) for question, _ in pairs}
    windows: list[Window] = []
    readings: list[Reading] = []
    for number, (question, text) in enumerate(pairs):
        rows, offsets = encoder.windows(asked[question], number, text)
        windows += rows
        tokens = np.full((len(offsets), 3), _UNREAD, np.float32)
        readings.append(Reading(offsets, tokens, _UNREAD, _UNREAD))
    return windows, readings


def _enter(readings: list[Reading], window: Window, token: Any, whole: Any) -> None:
    """Add what a window says; where two overlap, the stronger word counts."""
    read = readings[window.text]
    there = slice(window.first, window.first + window.pieces)
    here = slice(window.begin, window.begin + window.pieces)
    read.tokens[there] = np.maximum(read.tokens[there], token[here])
    readings[window.text] = Reading(
        read.offsets,
        read.tokens,
        max(read.answerable, float(whole[0])),
        max(read.relevant, float(whole[1])),
    )


def batches(windows: Sequence[Window]) -> Iterator[list[Window]]:
    """Windows of similar length together, so that little is read that is only padding."""
    batch: list[Window] = []
    for window in sorted(windows, key=lambda w: -len(w.ids)):
        if batch and (len(batch) + 1) * len(batch[0].ids) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def padded(batch: Sequence[Window]) -> dict[str, Any]:
    """The model's inputs for some windows."""
    ids = np.zeros((len(batch), max(len(window.ids) for window in batch)), np.int32)
    kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
    for row, window in enumerate(batch):
        size = len(window.ids)
        ids[row, :size] = window.ids
        mask[row, :size] = 1
        kinds[row, window.question : size] = 1
    return {"input_ids": ids, "token_type_ids": kinds, "attention_mask": mask}
