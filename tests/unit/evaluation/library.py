"""A library whose searches and answers are given, for tests of measuring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from quire.evaluation.corpus import find_corpus
from quire.evaluation.scratch import IndexedCorpus
from quire.models import Answer, Citation, Passage, Retrieval
from quire.testing.answering import make_chunk, make_confidence


def passage(
    source_file: str, text: str = "some text", *, number: int = 1, **changes: Any
) -> Passage:
    chunk = make_chunk(text, source_file=source_file, **changes)
    return Passage(number=number, chunk=chunk, score=0.9, cosine=0.8)


def citation(source_file: str, quote: str, start: int) -> Citation:
    return Citation(
        number=1,
        quote=quote,
        char_start=start,
        char_end=start + len(quote),
        line_start=1,
        line_end=1,
        source_file=source_file,
        source_url="",
        page_title="",
        section_heading="",
        breadcrumb="",
        chunk_id="c",
        chunk_index=0,
        chunk_text=quote,
        chapter="",
        score=0.9,
        cosine=0.8,
    )


@dataclass
class ScriptedLibrary:
    """Answers from a script; records what was asked."""

    found: Mapping[str, Sequence[Passage]] = field(default_factory=dict[str, Sequence[Passage]])
    """Question → passages."""
    said: Mapping[str, tuple[str, Sequence[Citation]]] = field(
        default_factory=dict[str, tuple[str, Sequence[Citation]]]
    )
    """Question → text and citations; an absent question is refused."""
    probabilities: Mapping[str, float] = field(default_factory=dict[str, float])
    asked: list[Any] = field(default_factory=list[Any])
    settings: Any = field(default_factory=lambda: SimpleNamespace(top_k=5))
    embedder: Any = field(default_factory=lambda: SimpleNamespace(name="words"))

    async def search(self, text: str, *, book_id: str, top_k: int = 5) -> Retrieval:
        self.asked.append(text)
        return Retrieval(
            query=text,
            passages=tuple(self.found.get(text, ()))[:top_k],
            confidence=make_confidence(self.probabilities.get(text, 0.5)),
        )

    async def ask(self, ask: Any) -> Answer:
        self.asked.append(ask)
        text, citations = self.said.get(ask.text, ("The book doesn't say.", ()))
        answered = ask.text in self.said
        return Answer(
            question=ask.text,
            text=text,
            sentences=(),
            citations=tuple(citations),
            mode="general",
            confidence=make_confidence(self.probabilities.get(ask.text, 0.5)),
            should_answer=answered,
            refusal_reason=None if answered else "low_confidence",
            standalone_question=ask.text,
            book_id="book",
            model="scripted",
            tokens_used=10,
            elapsed_ms=1.0,
        )


def book_of(tmp_path: Path, pages: Mapping[str, str], library: ScriptedLibrary) -> IndexedCorpus:
    """A tree of pages on disk behind a scripted library."""
    root = tmp_path / "book"
    for name, text in pages.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    corpus = find_corpus(root, pages=tmp_path / "pages")
    stand_in: Any = library
    return IndexedCorpus(corpus=corpus, library=stand_in, book_id="book", ingestion={})
