"""The default embedder: all-MiniLM-L6-v2 on ONNX Runtime, on this machine's CPU."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from quire.embedding.cores import Cores
from quire.embedding.counting import WordPieceCounter
from quire.embedding.store import MODEL, WINDOW, ModelStore, Precision, Progress

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from quire.embedding.graph import GraphRunner

DIMENSION = 384
SPECIAL_TOKENS = 2
BATCH_TOKENS = 512
"""Padded tokens of one document batch: few enough to stay in a core's cache."""


@dataclass(frozen=True)
class _Engine:
    """What is loaded on first use."""

    tokenizer: Tokenizer
    runner: GraphRunner
    precision: Precision
    count: WordPieceCounter

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids, cut to the window with the closing token kept."""
        encodings = self.tokenizer.encode_batch([_encodable(text) for text in texts])
        ids = [encoding.ids for encoding in encodings]
        return [each if len(each) <= WINDOW else [*each[: WINDOW - 1], each[-1]] for each in ids]


class MinilmEmbedder:
    """Embeds with all-MiniLM-L6-v2, in fp32 or int8.

    Both precisions are one vector space with one name: their vectors of a text agree, on average,
    to a cosine of .99, so an index made with one is searched with the other. A vector doesn't
    depend on the texts embedded beside it.

    Args:
        cache: Folder of the model files; they are fetched and built there if they are missing.
        precision: `auto` takes what the check at build time chose (see `PrecisionCheck`).
        threads: Texts and batches that are embedded at a time; one a core by default.
        source: Where the weights are, instead of the package index (see `ModelStore`).
        progress: Told, line by line, what a build is doing; called from another thread.

    A text or a batch keeps to one core, and several run side by side: shared among the cores, it
    takes a fifth more of the processor, and a question isn't embedded any sooner.

    Nothing is loaded before the first call or `warm()`, either of which raises `ModelFilesError`
    when the model can't be had.
    """

    def __init__(
        self,
        cache: Path,
        *,
        precision: Literal["auto", "fp32", "int8"] = "auto",
        threads: int | None = None,
        source: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.store = ModelStore(cache, source=source)
        self._precision: Literal["auto", "fp32", "int8"] = precision
        self._progress = progress
        self._engine: _Engine | None = None
        self._loading = threading.Lock()
        # Questions have threads of their own: they never queue behind documents.
        self._documents, self._queries = (
            Cores(f"minilm-{kind}", threads) for kind in ("documents", "queries")
        )

    @property
    def name(self) -> str:
        """The same for both precisions."""
        return MODEL

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """The window less the two special tokens, which `count_tokens` doesn't count."""
        return WINDOW - SPECIAL_TOKENS

    def count_tokens(self, text: str) -> int:
        """Word pieces of the whole text; blocks while the model loads if it is not warm."""
        return self._load().count(text)

    async def warm(self) -> Precision:
        """Load now rather than at the first call, and say which precision is in use."""
        return (await self._queries.run(self._load)).precision

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row per text, in input order."""
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        if not texts:
            return vectors
        engine = await self._documents.run(self._load)
        ids = await self._documents.run(lambda: engine.encode(texts))

        def embed(rows: list[int]) -> None:
            vectors[rows] = engine.runner.embed([ids[row] for row in rows])

        await self._documents.each(embed, _batches([len(each) for each in ids]))
        return vectors

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The L2-normalised vector of a question, made the same way as a document's."""

        def embed() -> NDArray[np.float32]:
            engine = self._load()
            return engine.runner.embed(engine.encode([text]))[0]

        return await self._queries.run(embed)

    async def close(self) -> None:
        """Finish the batches in flight and free the model."""
        for cores in (self._documents, self._queries):
            await cores.close()
        self._engine = None

    def _load(self) -> _Engine:
        with self._loading:
            if self._engine is None:
                self._engine = self._open()
            return self._engine

    def _open(self) -> _Engine:
        from tokenizers import Tokenizer

        from quire.embedding.graph import GraphRunner

        manifest = self.store.ensure(self._progress)
        precision = manifest.check.chosen if self._precision == "auto" else self._precision
        tokenizer = Tokenizer.from_file(str(self.store.path_of("tokenizer")))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        runner = GraphRunner(self.store.path_of(precision), threads=1)

        def count(text: str) -> int:
            return len(tokenizer.encode(_encodable(text), add_special_tokens=False).ids)

        return _Engine(tokenizer, runner, precision, WordPieceCounter(count))


def _encodable(text: str) -> str:
    """The text without lone surrogates, which JSON can carry and no tokenizer accepts."""
    return text.encode("utf-8", "replace").decode()


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows in batches of similar length, each at most `BATCH_TOKENS` once padded.

    The longest come first, so that the most memory is asked for once, at the beginning.
    """
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        if batch and (len(batch) + 1) * lengths[batch[0]] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
