"""Verification: each drafted sentence is proven by quotes of this turn's passages, or dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from quire.answering import guard, lexicon, markup, quotable, relations
from quire.answering.citations import Quote
from quire.answering.draft import Segment
from quire.answering.ports import Claim, Support
from quire.answering.quotable import Unit, UnitKind
from quire.answering.sanitizer import outside_code, safe_markdown
from quire.ingestion.renditions.writer import fence_for
from quire.models import Passage

_DEFINED: Final = re.compile(r"(?:(?<![ \t])[ \t]++)?\n[ \t]*:[ \t]+")
"""Between a term and what is said of it, in a definition list."""
_WRAPPED: Final = re.compile(r"(?:(?<![ \t])[ \t]++)?\n[ \t]*(?:>[ \t]?)*")
_MARK: Final = re.compile(r"\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})*)\]")
_CLAUSE: Final = re.compile(
    r"[,;:()—–]|\b(?:but|because|although|while|whereas|since|so that|unless|if|which|and|or)\b"
)
_FENCES: Final = ("```", "~~~", "$$")
"""How code and formulas begin that say so themselves."""
_QUESTION: Final = ("?", "？", "؟")
"""How a sentence ends that claims nothing, so that nothing proves it."""
_MAX_QUOTES: Final = 3
_MIN_GAIN: Final = 0.15
_MIN_WITH_SUPPORT: Final = 0.65
_SUPPORTED: Final = 0.72


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A sentence or block that may be shown, with the quotes that prove it."""

    text: str
    kind: UnitKind
    quotes: tuple[Quote, ...]
    indent: int = 0
    """Columns before it where it was written: an entry of a list in a list has more."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A unit of a passage, ready to be compared."""

    passage: Passage
    index: int
    unit: Unit
    stems: frozenset[str]


class Verifier:
    """Proves the segments of one turn against the passages retrieved in it."""

    def __init__(
        self,
        passages: Sequence[Passage],
        *,
        question: str,
        base_url: str | None = None,
        support: Support | None = None,
        min_support: float = 0.5,
    ) -> None:
        self._passages = {passage.number: passage for passage in passages}
        self._question = question
        self._base_url = base_url
        self._support = support
        self._min_support = min_support
        self._sources: list[_Source] = []
        clean: set[str] = set(lexicon.content_stems(question))
        tainted: set[str] = set()
        for passage in passages:
            text = passage.chunk.markdown
            found = quotable.units(text, passage.chunk.opening)
            commands = guard.commands(text)
            for index, unit in enumerate(found):
                if passage.chunk.place(unit.start, unit.end) is None:
                    continue  # nothing of it stands in the book
                stems = lexicon.content_stems(unit.plain)
                if any(a < unit.end and unit.start < b for a, b in commands):
                    tainted |= stems
                    continue
                clean |= stems
                self._sources.append(_Source(passage, index, unit, stems))
            for a, b in commands:
                tainted |= lexicon.content_stems(markup.plain(text[a:b]))
            clean |= lexicon.content_stems(_context(passage))
        self._planted = tainted - clean

    async def verify(self, segment: Segment) -> list[Proven]:
        """The sentences of a segment that are proven, in order; unproven ones are left out."""
        exact = self._exact(segment)
        if exact is not None:
            return [exact]
        text = safe_markdown(outside_code(segment.text, _keep_marks), self._base_url)
        proven: list[Proven] = []
        for unit in quotable.units(text):
            raw = text[unit.start : unit.end]
            marks = " ".join(re.findall(r"‹([^›]*)›", raw))
            named = {int(number) for number in re.findall(r"\d+", marks)}
            raw = re.sub(r"(?:(?<![ \t])[ \t]++)?‹[^›]*›", "", raw).strip()
            if not lexicon.words(raw):
                continue
            result = await self._prove(raw, unit.kind, named or set(segment.passages))
            if result:
                proven.append(replace(result, indent=quotable.indent(text, unit.start)))
        return proven

    def _exact(self, segment: Segment) -> Proven | None:
        """The book's own words: whole units of a named passage, as they stand."""
        text = segment.text.strip()
        for number in segment.passages:
            passage = self._passages.get(number)
            at = passage.chunk.markdown.find(text) if passage and text else -1
            if passage is None or at < 0:
                continue
            end = at + len(text)
            kind = self._kind_of(passage, at, end)
            if kind is None:
                continue
            span = text.find(segment.highlight) if segment.highlight else -1
            marked = (at + span, at + span + len(segment.highlight or "")) if span >= 0 else None
            shown = displayed(text, kind, self._base_url)
            quote = _quote(passage, at, end, marked)
            if not shown or quote is None:
                return None
            indent = quotable.indent(passage.chunk.markdown, at)
            return Proven(text=shown, kind=kind, quotes=(quote,), indent=indent)
        return None

    def _kind_of(self, passage: Passage, start: int, end: int) -> UnitKind | None:
        """What the slice is, if it is made of whole units; an entry may leave its bullet out."""
        text = passage.chunk.markdown
        mine = [source.unit for source in self._sources if source.passage is passage]
        inside = [unit for unit in mine if start <= unit.start < end]
        if inside and inside[0].start == start and inside[-1].end == end:
            return inside[0].kind
        for unit in mine:
            if unit.end == end and unit.start < start and unit.kind in ("item", "step"):
                bare = quotable.without_mark(text[unit.start : unit.end])
                return "sentence" if len(bare) == end - start else None
        return None

    async def _prove(self, raw: str, kind: UnitKind, named: set[int]) -> Proven | None:
        if kind == "code":
            quote = self._find_code(raw)
            return Proven(text=raw, kind=kind, quotes=(quote,)) if quote else None
        sentence = markup.plain(raw)
        wanted = lexicon.content_stems(sentence)
        if not wanted or wanted & self._planted or sentence.endswith(_QUESTION):
            return None
        near = [s for s in self._sources if s.passage.number in named]
        for sources in (near, self._sources) if near else (self._sources,):
            chosen = _cover(wanted, sources, lexicon.names(raw))
            quotes = _quotes(chosen)
            if quotes and await self._holds(raw, sentence, wanted, chosen):
                shown = displayed(raw, kind, self._base_url)
                return Proven(text=shown, kind=kind, quotes=quotes)
        return None

    async def _holds(
        self, raw: str, sentence: str, wanted: frozenset[str], chosen: Sequence[_Source]
    ) -> bool:
        evidence = " ".join(source.unit.plain for source in chosen)
        context = " ".join(dict.fromkeys(_context(source.passage) for source in chosen))
        held = frozenset[str]().union(*(source.stems for source in chosen))
        if not lexicon.claimed_numbers(sentence) <= lexicon.numbers(f"{evidence} {context}"):
            return False
        if not lexicon.names(raw) <= held | lexicon.content_stems(context):
            return False
        if lexicon.contradicts(sentence, evidence) or _flips_negation(sentence, evidence):
            return False
        if relations.unproven(sentence, evidence):
            return False
        share = lexicon.coverage(wanted, held, lexicon.names(raw))
        if share < (self._min_support if self._support is None else _MIN_WITH_SUPPORT):
            return False
        if self._support is None:
            return True
        claim = Claim(question=self._question, sentence=sentence, evidence=evidence)
        return (await self._support.score([claim]))[0] >= _SUPPORTED

    def _find_code(self, raw: str) -> Quote | None:
        """The code unit that holds these lines, whole and in order."""
        wanted = _code_lines(raw)
        for source in self._sources:
            if source.unit.kind == "code" and wanted:
                lines = _code_lines(source.unit.plain)
                if any(lines[i : i + len(wanted)] == wanted for i in range(len(lines))):
                    return _quote(source.passage, source.unit.start, source.unit.end)
        return None


def displayed(raw: str, kind: UnitKind, base_url: str | None) -> str:
    """A quotable unit as an answer shows it: safe, and without the source's line breaks."""
    if kind == "code" and not raw.startswith(_FENCES):
        raw = _fenced(raw)
    safe = safe_markdown(raw, base_url)
    if kind in ("code", "table"):
        return safe
    safe = _DEFINED.sub(": ", re.sub(r"^(?:>[ \t]?)+|^:[ \t]+", "", safe))
    safe = _WRAPPED.sub(" ", safe)
    return re.sub(r"[ \t]{2,}", " ", safe).strip()


def _fenced(code: str) -> str:
    """Code that is told by its indentation alone, of which the first line has none any more."""
    first, *rest = code.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    fence = fence_for(code)
    return "\n".join((fence, first, *(line[margin:] for line in rest), fence))


def _keep_marks(prose: str) -> str:
    """Citation marks in brackets of our own, moved into the sentence they follow."""
    prose = re.sub(r"([.!?][\"'”’)]*)((?:[ \t]*\[[\d,; ]{1,20}\])+)", r"\2\1", prose)
    return _MARK.sub(r" ‹\1›", prose)


def _context(passage: Passage) -> str:
    chunk = passage.chunk
    return " ".join((chunk.page_title, chunk.section_title or "", *chunk.section_path))


def _cover(
    wanted: frozenset[str], sources: Iterable[_Source], heavy: frozenset[str]
) -> list[_Source]:
    """The fewest units that together hold most of the wanted words, best first."""
    pool = [source for source in sources if source.stems & wanted]
    chosen: list[_Source] = []
    held: frozenset[str] = frozenset()
    share = 0.0
    while pool and len(chosen) < _MAX_QUOTES:
        best = max(
            pool,
            key=lambda s: (
                round(lexicon.coverage(wanted, held | s.stems, heavy), 3),
                bool(chosen) and s.passage is chosen[0].passage,
                -len(s.unit.plain),
            ),
        )
        gained = lexicon.coverage(wanted, held | best.stems, heavy)
        if gained - share < _MIN_GAIN:
            break
        chosen.append(best)
        pool.remove(best)
        held, share = held | best.stems, gained
    return chosen


def _quotes(chosen: Sequence[_Source]) -> tuple[Quote, ...]:
    """One quote per unit, neighbours in one block joined; the most important first."""
    spans: list[tuple[Passage, int, int, int, int]] = []
    for source in chosen:
        unit = source.unit
        for i, (passage, first, last, start, end) in enumerate(spans):
            joined = passage is source.passage and unit.kind == "sentence"
            if joined and source.index == last + 1 and unit.start - end < 3:
                spans[i] = (passage, first, source.index, start, unit.end)
                break
            if joined and source.index == first - 1 and start - unit.end < 3:
                spans[i] = (passage, source.index, last, unit.start, end)
                break
        else:
            spans.append((source.passage, source.index, source.index, unit.start, unit.end))
    quotes = (_quote(passage, start, end) for passage, _, _, start, end in spans)
    return tuple(quote for quote in quotes if quote is not None)


def _quote(
    passage: Passage, start: int, end: int, marked: tuple[int, int] | None = None
) -> Quote | None:
    """What stands in the source for a range of the passage's Markdown, with the exact answer."""
    place = passage.chunk.place(start, end)
    if place is None:
        return None
    exact = passage.chunk.place(*marked) if marked else None
    highlight = (exact[0] - place[0], exact[1] - place[0]) if exact else None
    return Quote(passage=passage, start=place[0], end=place[1], highlight=highlight)


def _flips_negation(sentence: str, evidence: str) -> bool:
    """Whether a clause says "not" where its best evidence doesn't, or the other way round."""
    clauses = [(c, lexicon.content_stems(c)) for c in _clauses(evidence)]
    for clause in _clauses(sentence):
        wanted = lexicon.content_stems(clause)
        if len(wanted) < 2 or not clauses:
            continue
        best = max(clauses, key=lambda c: (len(c[1] & wanted) / len(wanted), -len(c[1])))
        close = len(best[1] & wanted) / len(wanted) >= 0.5
        if close and lexicon.is_negated(clause) != lexicon.is_negated(best[0]):
            return True
    return lexicon.is_negated(sentence) and not lexicon.is_negated(evidence)


def _clauses(text: str) -> list[str]:
    parts: list[str] = []
    for part in re.split(r"(?<=[.!?])\s+", text):
        pieces = [piece for piece in _CLAUSE.split(part) if piece and piece.strip()]
        parts += [part] if len(pieces) < 2 else pieces
    return parts


def _code_lines(code: str) -> list[str]:
    lines = [line.strip() for line in code.split("\n")]
    return [line for line in lines if line and not line.startswith(("```", "~~~"))]
