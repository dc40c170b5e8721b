"""What a book can be found to say without anybody writing questions for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from quire.evaluation.derivation import DerivedQuestion, derive
from quire.evaluation.links import BrokenLink, broken_links
from quire.evaluation.outline import Outline, OutlinedSection
from quire.evaluation.scratch import IndexedCorpus, Progress
from quire.index.port import Point
from quire.models import Chunk, Passage

NEAR = 5
"""A section is retrieved when one of its chunks is among so many passages."""
DUPLICATE_COSINE = 0.95
_BLOCK = 2048
_MIN_DUPLICATE_WORDS = 20


@dataclass(frozen=True, slots=True)
class MissedQuestion:
    """A derived question whose own section is not among the first passages."""

    question: str
    section: str
    found: tuple[str, ...]
    """The pages found instead."""


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two sections that say nearly the same."""

    first: str
    second: str
    cosine: float
    excerpt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What was found out about a book."""

    pages: int
    sections: int
    questions: int
    retrieved: float
    """Share of sections that some derived question retrieves."""
    own_recall: float
    """Share of derived questions that find their own section."""
    never_retrieved: list[str]
    missed: list[MissedQuestion]
    near_duplicates: list[NearDuplicate]
    broken_links: list[BrokenLink]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


async def evaluate_coverage(
    indexed: IndexedCorpus, *, progress: Progress | None = None
) -> Coverage:
    """Ask the book about itself, compare its chunks, and follow its links."""
    outline = Outline(indexed.corpus.root)
    questions: list[DerivedQuestion] = []
    pages = 0
    for page in outline.pages():
        pages += 1
        questions += derive(page, outline.sections(page.source_file))
    sections = list(dict.fromkeys(question.section for question in questions))
    retrieved: set[OutlinedSection] = set()
    missed: list[MissedQuestion] = []
    for done, question in enumerate(questions, start=1):
        retrieval = await indexed.library.search(question.text, book_id=indexed.book_id, top_k=NEAR)
        hit = _sections_hit(retrieval.passages, outline)
        retrieved |= hit
        if question.section not in hit:
            missed.append(_missed(question, retrieval.passages))
        if progress:
            progress("asking the book about itself", done, len(questions))
    return Coverage(
        pages=pages,
        sections=len(sections),
        questions=len(questions),
        retrieved=_share(sum(section in retrieved for section in sections), len(sections)),
        own_recall=_share(len(questions) - len(missed), len(questions)),
        never_retrieved=[s.place for s in sections if s not in retrieved],
        missed=missed,
        near_duplicates=near_duplicates(await _points(indexed), outline),
        broken_links=broken_links(outline, indexed.corpus.root),
    )


def near_duplicates(points: Sequence[Point], outline: Outline) -> list[NearDuplicate]:
    """Pairs of chunks from different sections with nearly equal vectors, nearest first."""
    points = [point for point in points if point.chunk.word_count >= _MIN_DUPLICATE_WORDS]
    if not points:
        return []
    matrix = np.stack([point.dense for point in points])
    best: dict[tuple[str, str], NearDuplicate] = {}
    for start in range(0, len(points), _BLOCK):
        similar = matrix[start : start + _BLOCK] @ matrix.T
        rows, columns = np.nonzero(similar >= DUPLICATE_COSINE)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            first, second = points[start + row].chunk, points[column].chunk
            places = _place(first, outline), _place(second, outline)
            if start + row >= column or places[0] == places[1]:
                continue
            cosine = round(float(similar[row, column]), 4)
            if places not in best or best[places].cosine < cosine:
                excerpt = " ".join(first.text.split())[:160]
                best[places] = NearDuplicate(*places, cosine, excerpt)
    return sorted(best.values(), key=lambda pair: (-pair.cosine, pair.first, pair.second))


def _sections_hit(passages: Sequence[Passage], outline: Outline) -> set[OutlinedSection]:
    return {
        section
        for passage in passages
        for section in outline.sections(passage.chunk.source_file)
        if section.overlaps(passage.chunk, nested=False)
    }


def _missed(question: DerivedQuestion, passages: Sequence[Passage]) -> MissedQuestion:
    found = dict.fromkeys(passage.chunk.source_file for passage in passages)
    return MissedQuestion(question.text, question.section.place, tuple(found))


def _place(chunk: Chunk, outline: Outline) -> str:
    for section in outline.sections(chunk.source_file):
        if section.start <= chunk.char_start < section.end:
            return section.place
    return chunk.source_file


async def _points(indexed: IndexedCorpus) -> list[Point]:
    """Every chunk of the book with its vector."""
    points: list[Point] = []
    cursor: str | None = None
    while True:
        chunks, cursor = await indexed.library.index.scroll(indexed.book_id, after=cursor)
        points += await indexed.library.index.fetch_points(
            indexed.book_id, [chunk.id for chunk in chunks]
        )
        if cursor is None:
            return points


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
