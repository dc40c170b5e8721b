"""Embedding: texts a second, by precision and by batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from quire.embedding.port import Embedder
from quire.evaluation.benchmarks.results import Benchmark, Stopwatch
from quire.evaluation.corpus import find_corpus
from quire.evaluation.outline import Outline
from quire.evaluation.scratch import Progress
from quire.settings import Settings

TEXTS = 256
_ALONE = 64


async def bench_embed(
    settings: Settings, corpus: Path, *, progress: Progress | None = None
) -> Benchmark:
    """Embed sections of a corpus with each precision the local model has."""
    texts = section_texts(corpus, settings)[:TEXTS]
    result = Benchmark("embed", f"{len(texts)} sections of {corpus.name}")
    precisions = ("fp32", "int8") if settings.embedder == "minilm" else ("auto",)
    vectors: dict[str, np.ndarray] = {}
    for done, precision in enumerate(precisions):
        if progress:
            progress("embedding", done, len(precisions))
        embedder = _open(settings, precision)
        name = precision if precision != "auto" else settings.embedder
        try:
            await embedder.embed_documents(texts[:8])
            with Stopwatch() as batched:
                vectors[name] = await embedder.embed_documents(texts)
            against = None if name == "fp32" or len(precisions) == 1 else "fp32, batched"
            result.add(f"{name}, batched", len(texts) / batched.seconds, "texts/s", against=against)
            with Stopwatch() as alone:
                for text in texts[:_ALONE]:
                    await embedder.embed_documents([text])
            result.add(
                f"{name}, one by one",
                min(_ALONE, len(texts)) / alone.seconds,
                "texts/s",
                against=f"{name}, batched",
            )
        finally:
            await embedder.close()
    if len(vectors) == 2:
        cosines = (vectors["fp32"] * vectors["int8"]).sum(axis=1)
        result.add("mean cosine of int8 to fp32", float(cosines.mean()), "")
        result.add("least cosine of int8 to fp32", float(cosines.min()), "")
    return result


def section_texts(corpus: Path, settings: Settings) -> list[str]:
    """The texts of a corpus's sections, spread over all its pages."""
    found = find_corpus(corpus, pages=settings.home / "evaluations" / "bench" / "pages")
    outline = Outline(found.root)
    texts = [
        page.source[section.start : section.end]
        for page in outline.pages()
        for section in outline.sections(page.source_file)
        if section.end - section.start > 200
    ]
    step = max(1, len(texts) // TEXTS)
    return texts[::step]


def _open(settings: Settings, precision: str) -> Embedder:
    from quire.wiring.adapters import open_embedder

    return open_embedder(settings.model_copy(update={"embedder_precision": precision}))
