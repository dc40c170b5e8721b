"""How well the right pages are found: every question searched, every ranking scored."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from quire.answering.followups import standalone_question
from quire.evaluation.corpus import PageNames
from quire.evaluation.matching import anchor_of, contains
from quire.evaluation.outline import Outline
from quire.evaluation.questions import Question
from quire.evaluation.ranking import MEASURES, score_rankings, unique
from quire.evaluation.scratch import IndexedCorpus, Progress
from quire.evaluation.statistics import bootstrap_mean, mean, percentile
from quire.models import Chunk, Message, Passage

Match = Literal["page", "section", "passage"]
FollowUps = Literal["resolved", "last", "standalone"]

DEPTH = 50
"""Passages retrieved for each question; a page ranks by its best passage."""
SHOWN = 5
_ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Found:
    """A passage as it is shown in a report."""

    page: str
    heading: str
    score: float
    cosine: float
    excerpt: str

    @classmethod
    def of(cls, passage: Passage, names: PageNames) -> Found:
        """The passage's place, its scores and its first words."""
        chunk = passage.chunk
        return cls(
            page=names.page_id(chunk.source_file),
            heading=" › ".join(chunk.section_path) or chunk.page_title,
            score=round(passage.score, 4),
            cosine=round(passage.cosine, 4),
            excerpt=" ".join(chunk.markdown.split())[:300],
        )


@dataclass(slots=True, kw_only=True)
class RankedQuestion:
    """One question with what was found for it."""

    id: str
    question: str
    searched: str
    group: str
    relevant: list[str]
    """The units that count as found: pages, sections, or the passage with the answer."""
    ranking: list[str]
    """The first ten units found."""
    rank: int | None
    """Of the first relevant unit, among all that were retrieved."""
    values: dict[str, float] = field(default_factory=dict[str, float])
    probability: float
    elapsed_ms: float
    passages: list[Found] = field(default_factory=list[Found])

    def as_json(self) -> dict[str, Any]:
        """Plain values for a saved run."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalResult:
    """The measures over all questions that name something relevant."""

    match: Match
    questions: list[RankedQuestion]
    skipped: int
    """Questions without truth at this level."""
    unresolved: list[str]
    """Relevant ids that no page of the corpus goes by; they count as never found."""

    def metrics(self) -> dict[str, float | int | None]:
        """The five measures, n, and how long a search took."""
        found: dict[str, float | int | None] = {
            name: mean([q.values[name] for q in self.questions]) for name in MEASURES
        }
        times = [q.elapsed_ms for q in self.questions]
        return {
            **found,
            "n": len(self.questions),
            "latency_ms_p50": percentile(times, 50),
            "latency_ms_p95": percentile(times, 95),
        }

    def intervals(self) -> dict[str, tuple[float, float] | None]:
        """95 % bootstrap intervals of the measures."""
        return {name: bootstrap_mean([q.values[name] for q in self.questions]) for name in MEASURES}

    def groups(self) -> dict[str, dict[str, float | int | None]]:
        """The measures for each kind of question; empty when there is only one kind."""
        kinds = unique([q.group for q in self.questions])
        if len(kinds) < 2:
            return {}
        members = {kind: [q for q in self.questions if q.group == kind] for kind in kinds}
        return {
            kind or "other": {
                **{name: mean([q.values[name] for q in some]) for name in MEASURES},
                "n": len(some),
            }
            for kind, some in members.items()
        }


async def evaluate_retrieval(
    indexed: IndexedCorpus,
    questions: Sequence[Question],
    *,
    match: Match = "page",
    follow_ups: FollowUps = "resolved",
    progress: Progress | None = None,
) -> RetrievalResult:
    """Search for every question that names something relevant, and score the rankings."""
    names = PageNames(indexed.corpus)
    units = _Units(match, names, indexed.corpus.root)
    truths = {question.id: units.truth(question) for question in questions}
    asked = [question for question in questions if truths[question.id]]
    texts = _searched_texts(questions, follow_ups)
    ranked: list[RankedQuestion] = []
    for done, question in enumerate(asked, start=1):
        ranked.append(await _ask(indexed, question, texts[question.id], truths[question.id], units))
        if progress:
            progress("searching", done, len(asked))
    _score(ranked)
    pages = unique([names.resolve(r)[0] for question in asked for r in question.relevant])
    return RetrievalResult(
        match=match,
        questions=ranked,
        skipped=len(questions) - len(asked),
        unresolved=[page for page in pages if not names.knows(page)],
    )


async def _ask(
    indexed: IndexedCorpus,
    question: Question,
    text: str,
    truth: list[str],
    units: _Units,
) -> RankedQuestion:
    start = time.perf_counter()
    retrieval = await indexed.library.search(text, book_id=indexed.book_id, top_k=DEPTH)
    elapsed = (time.perf_counter() - start) * 1000
    ranking = unique([units.of(passage, question, truth) for passage in retrieval.passages])
    wanted = set(truth)
    return RankedQuestion(
        id=question.id,
        question=question.text,
        searched=text,
        group=question.group,
        relevant=truth,
        ranking=ranking,
        rank=next((i for i, unit in enumerate(ranking, start=1) if unit in wanted), None),
        probability=retrieval.confidence.probability,
        elapsed_ms=elapsed,
        passages=[Found.of(passage, units.names) for passage in retrieval.passages[:SHOWN]],
    )


def _score(ranked: Sequence[RankedQuestion]) -> None:
    """Fill in each question's measures, then cut the rankings to what is worth keeping."""
    values = score_rankings({q.id: q.relevant for q in ranked}, {q.id: q.ranking for q in ranked})
    for question in ranked:
        question.values = {name: values[name][question.id] for name in MEASURES}
        del question.ranking[10:]


class _Units:
    """What is ranked and what counts as found: pages, sections, or passages."""

    def __init__(self, match: Match, names: PageNames, root: Path) -> None:
        self.names = names
        self._match: Match = match
        self._outline = Outline(root) if match == "section" else None

    def truth(self, question: Question) -> list[str]:
        """The relevant units; empty when the question isn't labelled at this level."""
        resolved = [self.names.resolve(relevant) for relevant in question.relevant]
        match self._match:
            case "page":
                return unique([page for page, _ in resolved])
            case "section":
                given = [f"{page}#{anchor}" for page, anchor in resolved if anchor]
                paired = zip(resolved, question.anchors, strict=False)
                return unique(given or [f"{page}#{anchor}" for (page, _), anchor in paired])
            case "passage":
                return [_ANSWER] if resolved and question.answers else []

    def of(self, passage: Passage, question: Question, truth: list[str]) -> str:
        """What a passage counts as."""
        chunk = passage.chunk
        page = self.names.page_id(chunk.source_file)
        match self._match:
            case "page":
                return page
            case "section":
                return self._section(chunk, page, truth)
            case "passage":
                pages = {self.names.resolve(relevant)[0] for relevant in question.relevant}
                holds = page in pages and contains(chunk.markdown, question.answers)
                return _ANSWER if holds else chunk.id

    def _section(self, chunk: Chunk, page: str, truth: list[str]) -> str:
        assert self._outline is not None
        for wanted in truth:
            on, _, anchor = wanted.rpartition("#")
            if on == page:
                section = self._outline.section(chunk.source_file, anchor)
                if section and section.overlaps(chunk):
                    return wanted
        return f"{page}#{anchor_of(chunk)}"


def _searched_texts(questions: Sequence[Question], follow_ups: FollowUps) -> dict[str, str]:
    """What is searched for each question; earlier turns of a dialogue count as answered right."""
    texts: dict[str, str] = {}
    threads: dict[str, list[Message]] = {}
    for question in questions:
        thread = threads.setdefault(question.dialogue, []) if question.dialogue else []
        history = [*question.history, *thread]
        match follow_ups:
            case "standalone":
                texts[question.id] = question.standalone or question.text
            case "resolved" if history:
                texts[question.id] = standalone_question(question.text, history)
            case _:
                texts[question.id] = question.text
        thread.append(Message(role="user", content=question.text))
        thread.append(Message(role="assistant", content=" ".join(question.answers[:1])))
    return texts
