"""Choosing: which units of the passages are said, in the shape that the question wants."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from quire.answering import lexicon, overview
from quire.answering.intent import Intent
from quire.answering.ranking import Ranked
from quire.answering.whole import AUTHORED

_DEPENDENT: Final = re.compile(
    r"^(?:[*_]*)(?:this|that|these|those|it|its|they|their|them|he|she|his|her|such|both|however|"
    r"therefore|thus|hence|nevertheless|nonetheless|so|but|and|or|also|instead|moreover|furthermore|otherwise|then|here|"
    r"conversely|similarly|likewise|consequently|as a result|for example|for instance|"
    r"in this case|in that case|in contrast|on the other hand|the (?:former|latter|same|other|"
    r"result|difference|second|third)|another|one of them|neither|either)\b(?!\s+is\s+(?:why|how))",
    re.IGNORECASE,
)
_OF_ITS_HEADING: Final = re.compile(
    r"[*_]*this (?!(?:is|was|has|will|can|may|should|must|also|document|page|section|chapter|"
    r"lesson|article|reference|\w+[^s]s)\b)\w+",
    re.IGNORECASE,
)
"""How the first sentence of a section begins that speaks of what its heading names."""
_LEANING: Final = re.compile(
    r"(?:\S+ ){0,3}(?:it|its|they|their|this|these|both|the (?:default|same))\b", re.IGNORECASE
)
"""How a sentence begins that goes on about what the one before it named."""
_POINTS_BACK: Final = re.compile(r"(?:\S+ ){0,5}(?:it|its|they|them|these)\b", re.IGNORECASE)
_ENDED: Final = re.compile(r"[.!:…。！：۔।؟？][\"'”’»)\]」』）`*_]*\Z|`\Z")
_FINISHED: Final = re.compile(r"[.!?][*_]*\s")
_NEAR_BEST: Final = 0.80
_WIDE: Final = 0.66
_NEAR_BEST_READ: Final = 0.50
_WIDE_READ: Final = 0.35
"""Likewise where a reader scored: its scores lie farther apart."""
_NEAR_BEST_TERSE: Final = 0.80
_ELSEWHERE: Final = 0.60
"""Least score, against the best unit's, of a sentence from another passage."""
_BLOCK_BESIDE: Final = 0.70
"""Least score of a table or code, against the best unit's, to be shown beside sentences."""
_BLOCK_WANTED: Final = 0.50
"""The same for a question that asks how."""
_EXAMPLE_SHOWN: Final = 0.40
"""The same for one that asks for an example."""
_DEFINING: Final = 0.50
"""Least score of a sentence that says what something is, to be said before better ones."""
_DEFINED_FURTHER: Final = 0.30
_EXPLAINED: Final = 3
"""Sentences that follow a definition, where it is to be explained."""
_CONTINUED: Final = 0.40
"""Least score, against the best sentence's, of the one after it."""
_SENTENCE_BESIDE: Final = 0.80
"""Likewise of a sentence beside a list."""
_MAX_STEPS: Final = 15
_MAX_TABLE: Final = 1800


class Choice:
    """Picks units for one question out of all that were ranked."""

    def __init__(self, intent: Intent, ranked: Sequence[Ranked], *, terse: bool) -> None:
        self._intent = intent
        self._terse = terse
        self._ranked = ranked
        self._at = {(unit.excerpt.number, unit.index): unit for unit in ranked}
        self._prose = [u for u in ranked if u.unit.kind in ("sentence", "item", "step")]
        self._prose += [u for u in ranked if u.unit.kind == "lead" and _says_something(u)]
        self._prose = [u for u in self._prose if not _says_nothing(u)] or self._prose
        self._best = max(ranked, key=by_score)
        self._read = self._best.answer is not None

    def make(self) -> list[Ranked]:
        """The chosen units in reading order; empty only where the book itself is asked for."""
        match self._intent.kind:
            case "comparison":
                chosen = self._compare()
            case "howto" | "list":
                chosen = self._list() or self._sentences()
            case "code":
                chosen = self._code() or self._sentences()
            case "example":
                chosen = self._example() or self._sentences()
            case "overview":
                return self._overview()
            case "author":
                return [u for u in self._prose if AUTHORED.search(u.unit.plain)]
            case _:
                chosen = self._sentences()
        return self._in_order(self._whole_lists(chosen or [self._best]))

    def _overview(self) -> list[Ranked]:
        """The first sentences that say what the book or its subject is, else the very first."""
        told = [unit for unit in self._prose if overview.can_be_said(unit.unit)]
        said = [unit for unit in told if overview.is_introducing(unit.unit)] or told
        chosen = said[: self._intent.sentences]
        last = chosen[-1] if chosen else None
        after = [u for u in told if last and u.excerpt is last.excerpt and u.index > last.index]
        chosen += after[: self._intent.sentences - len(chosen)]
        return sorted(chosen, key=lambda u: (u.excerpt.number, u.index))

    def _whole_lists(self, chosen: list[Ranked]) -> list[Ranked]:
        """Much of a list becomes all of it; where one thing is asked for, only its best entry."""
        parts: dict[tuple[int, int], list[Ranked]] = {}
        for unit in chosen:
            if unit.unit.kind in ("item", "step"):
                parts.setdefault((unit.excerpt.number, unit.unit.block), []).append(unit)
        for place, part in parts.items():
            whole = self._list_at(place)
            lead = self._lead_of(whole[0])
            led = lead is not None and lead in chosen
            if self._terse or len(part) == len(whole) or (len(part) == 1 and not led):
                continue
            if self._intent.kind in ("definition", "number"):
                best = max(part, key=by_score)
                chosen = [unit for unit in chosen if unit not in part or unit is best]
            elif (led or 2 * len(part) >= len(whole)) and _is_short(whole):
                chosen = [*chosen, *([lead] if lead else []), *whole]
        return chosen

    def _list_at(self, place: tuple[int, int]) -> list[Ranked]:
        return [
            unit
            for unit in self._ranked
            if (unit.excerpt.number, unit.unit.block) == place
            and unit.unit.kind in ("item", "step")
        ]

    def _sentences(self, *, limit: int | None = None) -> list[Ranked]:
        """The best sentence and those that go with it, each with what it leans on."""
        limit = limit or (max(3, self._intent.sentences) if self._read else self._intent.sentences)
        if self._shows_block() and not (self._read and self._prose):
            return self._block(self._best)
        chosen: list[Ranked] = []
        home = self._home()
        if home is None:
            return []
        if (
            self._shows_block()
            and home.score < _ELSEWHERE
            and home.excerpt is not self._best.excerpt
        ):
            return self._block(self._best)
        floor = home.score * self._share()
        for unit in sorted(self._prose, key=lambda u: self._ordering(u, home), reverse=True):
            if len(chosen) >= limit or (chosen and self._lifted(unit, home) < floor):
                break
            if self._read and unit.score < _ELSEWHERE and unit.excerpt is not home.excerpt:
                continue
            if home.defines and self._is_preamble(unit, home):
                continue
            group = self._with_predecessors(unit)
            fresh = [u for u in group if u not in chosen and not _repeats(u, chosen)]
            if unit in chosen or not group or unit not in fresh:
                continue
            if chosen and len(chosen) + len(fresh) > limit + 1:
                continue
            chosen += fresh
        chosen = chosen or [home]
        return [*chosen, *self._completing(chosen, home), *self._block_beside(chosen)]

    def _home(self) -> Ranked | None:
        """The best sentence that can stand.

        Where something is to be defined, the first in its passage that says what it is; without
        one, a sentence that names it.
        """
        standing = [unit for unit in self._prose if self._with_predecessors(unit)]
        naming = [unit for unit in standing if self._intent.subject & unit.stems]
        defining = [unit for unit in naming if unit.defines and unit.score >= _DEFINING]
        best = max(defining or naming or standing or self._prose, key=by_score, default=None)
        if best is None or not defining:
            return best
        return next(unit for unit in defining if unit.excerpt is best.excerpt)

    def _is_preamble(self, unit: Ranked, home: Ranked) -> bool:
        """Whether a sentence stands before the one that defines, which can do without it."""
        if unit.excerpt is not home.excerpt or unit.index >= home.index:
            return False
        return unit.index < home.index - 1 or not _POINTS_BACK.match(home.unit.plain)

    def _share(self) -> float:
        """How near the best one a unit must come to be said as well."""
        if self._terse and not self._intent.detailed:
            return _NEAR_BEST_TERSE
        if self._read:
            return _WIDE_READ if self._intent.detailed else _NEAR_BEST_READ
        return _WIDE if self._intent.detailed else _NEAR_BEST

    def _block_beside(self, chosen: Sequence[Ranked]) -> list[Ranked]:
        """The code and the table that a reader finds about as good an answer as the sentences."""
        if not self._read:
            return []
        wanted = _BLOCK_WANTED if self._intent.kind in ("code", "howto") else _BLOCK_BESIDE
        beside: list[Ranked] = []
        for kind in ("table",) if self._intent.kind == "definition" else ("code", "table"):
            blocks = [u for u in self._ranked if u.unit.kind == kind and len(u.raw) <= _MAX_TABLE]
            best = max(blocks, key=self._by_block_score, default=None)
            if best is not None and self._block_score(best) >= wanted:
                beside += [u for u in self._block(best) if u not in (*chosen, *beside)]
        return beside

    def _shows_block(self) -> bool:
        """Whether the best unit is code or a table, and this question wants one."""
        if self._best.unit.kind == "code":
            return self._intent.kind in ("code", "howto") or not self._prose
        if self._best.unit.kind == "table":
            prose = max((unit.score for unit in self._prose), default=0.0)
            return self._intent.kind == "number" or self._best.score > 1.1 * prose
        return False

    def _lifted(self, unit: Ranked, home: Ranked) -> float:
        """A unit's score, raised where it stands beside the best one."""
        lift = 0.04 if unit.excerpt is home.excerpt else 0.0
        if unit.excerpt is home.excerpt and abs(unit.index - home.index) == 1:
            lift += 0.03
        return unit.score + lift

    def _ordering(self, unit: Ranked, home: Ranked) -> tuple[float, int, int]:
        if unit is home:
            return (10.0, 0, 0)
        return (round(self._lifted(unit, home), 6), -unit.excerpt.number, -unit.index)

    def _completing(self, chosen: Sequence[Ranked], home: Ranked) -> list[Ranked]:
        """The sentence that continues a lone short one, or says more of what was defined."""
        if self._intent.kind == "definition" and self._intent.detailed and not self._terse:
            return self._going_on(chosen, home)
        after = self._at.get((home.excerpt.number, home.index + 1))
        if self._terse or after is None or after.unit.kind != "sentence" or after in chosen:
            return []
        if after.unit.block != home.unit.block:
            return []
        if self._intent.kind == "definition" and self._read and _LEANING.match(after.unit.plain):
            return [after] if after.score >= _DEFINED_FURTHER * home.score else []
        if len(chosen) > 1 or len(home.unit.plain) > 240 or self._intent.kind == "number":
            return []
        return [after] if after.score >= _CONTINUED * home.score else []

    def _going_on(self, chosen: Sequence[Ranked], home: Ranked) -> list[Ranked]:
        """The rest of the paragraph that defines what is to be explained."""
        rest: list[Ranked] = []
        while len(rest) < _EXPLAINED:
            after = self._at.get((home.excerpt.number, home.index + 1 + len(rest)))
            if (
                after is None
                or after.unit.kind != "sentence"
                or after.unit.block != home.unit.block
            ):
                break
            rest.append(after)
        return [unit for unit in rest if unit not in chosen]

    def _with_predecessors(self, unit: Ranked) -> list[Ranked]:
        """The unit after the sentences it can't be understood without; empty if one is missing."""
        group = [unit]
        while _DEPENDENT.match(group[0].unit.plain):
            first = group[0]
            before = self._at.get((first.excerpt.number, first.index - 1))
            if first.unit.kind in ("item", "step"):
                break
            if before is None or before.unit.heading != first.unit.heading:
                return (
                    group if first.unit.heading and _OF_ITS_HEADING.match(first.unit.plain) else []
                )
            if before.unit.kind != "sentence" or len(group) > 2:
                return []
            group.insert(0, before)
        return group

    def _list(self) -> list[Ranked]:
        """A list of the book, whole, with the sentence that introduces it."""
        kinds = ("step", "item") if self._intent.kind == "howto" else ("item", "step")
        blocks: dict[tuple[int, int], list[Ranked]] = {}
        for unit in self._ranked:
            if unit.unit.kind in kinds:
                blocks.setdefault((unit.excerpt.number, unit.unit.block), []).append(unit)
        best: list[Ranked] = []
        best_score = 0.0
        for block in blocks.values():
            if len(block) < 2:
                continue
            lead = self._lead_of(block[0])
            score = max(u.score for u in (*block, *([lead] if lead else [])))
            score += 0.03 if block[0].unit.kind == kinds[0] else 0.0
            if score > best_score:
                best, best_score = block, score
        if not best or best_score < 0.9 * self._best.score:
            return []
        lead = self._lead_of(best[0])
        return [*self._beside(best), *([lead] if lead else []), *best[:_MAX_STEPS]]

    def _beside(self, block: Sequence[Ranked]) -> list[Ranked]:
        """The sentence that a reader finds about as good an answer as the list."""
        others = [u for u in self._prose if u not in block and u.unit.kind == "sentence"]
        best = max(others, key=by_score, default=None)
        if not self._read or best is None or best.score < _SENTENCE_BESIDE:
            return []
        return self._with_predecessors(best)

    def _lead_of(self, unit: Ranked) -> Ranked | None:
        """The line or sentence that introduces a block, right before it."""
        before = self._at.get((unit.excerpt.number, unit.index - 1))
        if before is None or before.unit.heading != unit.unit.heading:
            return None
        if before.unit.kind == "lead":
            return before
        if before.unit.kind == "sentence" and not _DEPENDENT.match(before.unit.plain):
            return before
        return None

    def _code(self) -> list[Ranked]:
        blocks = [u for u in self._ranked if u.unit.kind == "code"]
        if not blocks:
            return []
        best = max(blocks, key=self._by_block_score)
        if self._block_score(best) < 0.7 * self._best.score:
            return []
        return self._block(best)

    def _example(self) -> list[Ranked]:
        """What is said of it, and the code that shows it."""
        blocks = [u for u in self._ranked if u.unit.kind == "code" and len(u.raw) <= _MAX_TABLE]
        best = max(blocks, key=self._by_block_score, default=None)
        if best is None or self._block_score(best) < _EXAMPLE_SHOWN:
            return []
        shown = self._block(best)
        return [*(u for u in self._sentences(limit=2) if u.unit.kind != "code"), *shown]

    def _block_score(self, unit: Ranked) -> float:
        """A block's own score; code is often told better by what introduces it."""
        lead = self._at.get((unit.excerpt.number, unit.index - 1))
        if unit.unit.kind != "code" or lead is None or lead.unit.heading != unit.unit.heading:
            return unit.score
        return max(unit.score, 0.95 * lead.score)

    def _by_block_score(self, unit: Ranked) -> tuple[float, float, int, int]:
        return (self._block_score(unit), *by_score(unit))

    def _block(self, unit: Ranked) -> list[Ranked]:
        """Code or a table with its introduction; a table too long to show is left out."""
        if unit.unit.kind == "table" and len(unit.raw) > _MAX_TABLE:
            rest = [u for u in self._prose if u is not unit]
            return [max(rest, key=by_score)] if rest else [unit]
        lead = self._lead_of(unit)
        if lead is None:
            above = [u for u in self._prose if u.excerpt is unit.excerpt and u.index < unit.index]
            above = [u for u in above if u.unit.heading == unit.unit.heading and not _leans(u)]
            lead = max(above, key=by_score, default=None)
        return [lead, unit] if lead else [unit]

    def _compare(self) -> list[Ranked]:
        """A sentence for each side, and one that names both."""
        sides = self._intent.sides
        tables = [
            u
            for u in self._ranked
            if u.unit.kind == "table"
            and len(u.raw) <= _MAX_TABLE
            and all(side & u.stems for side in sides)
        ]
        chosen: list[Ranked] = []
        for mine, other in ((sides[0], sides[1]), (sides[1], sides[0])):
            about = [u for u in self._prose if u not in chosen and mine & u.stems]
            alone = [u for u in about if not other & u.stems] or about
            if alone:
                pick = max(alone, key=lambda u: self._side_score(u, mine))
                chosen += [u for u in self._with_predecessors(pick) if u not in chosen]
        both = [u for u in self._prose if u not in chosen and all(side & u.stems for side in sides)]
        if both:
            pick = max(both, key=by_score)
            if pick.score >= 0.8 * self._best.score and not _repeats(pick, chosen):
                chosen += [u for u in self._with_predecessors(pick) if u not in chosen]
        if tables and max(tables, key=by_score).score >= 0.6 * self._best.score:
            chosen.append(max(tables, key=by_score))
        return chosen if len(chosen) > 1 else self._sentences()

    def _side_score(self, unit: Ranked, side: frozenset[str]) -> tuple[float, int, int]:
        share = len(side & unit.stems) / len(side)
        starts = 0.1 if side & unit.stems and _starts_with(unit, side) else 0.0
        return (round(unit.score + 0.15 * share + starts, 6), -unit.excerpt.number, -unit.index)

    def _in_order(self, chosen: Iterable[Ranked]) -> list[Ranked]:
        """The passage with the best unit first, then by rank; inside a passage as in the book.

        Where something is to be defined, the passage that does it is first.
        """
        unique = list(dict.fromkeys((u.excerpt.number, u.index) for u in chosen))
        units = [self._at[key] for key in unique]
        best: dict[int, float] = {}
        for unit in units:
            number = unit.excerpt.number
            best[number] = max(best.get(number, 0.0), round(unit.score, 6))
        home = self._home() if self._intent.kind == "definition" else None
        if home is not None and home in units:
            best[home.excerpt.number] = 2.0
        return sorted(
            units, key=lambda u: (-best[u.excerpt.number], u.excerpt.number, u.unit.start)
        )


def _says_nothing(unit: Ranked) -> bool:
    """Whether a sentence only asks, or is none: a path, a label."""
    plain = unit.unit.plain
    if unit.unit.kind != "sentence":
        return False
    return plain.endswith("?") or (len(plain.split()) <= 3 and not _ENDED.search(plain))


def _is_short(entries: Sequence[Ranked]) -> bool:
    return len(entries) <= _MAX_STEPS and sum(len(unit.raw) for unit in entries) <= _MAX_TABLE


def _says_something(unit: Ranked) -> bool:
    """Whether what introduces a block says a whole sentence before that."""
    return bool(_FINISHED.search(unit.unit.plain)) and len(unit.unit.plain.split()) > 5


def _leans(unit: Ranked) -> bool:
    return bool(_DEPENDENT.match(unit.unit.plain))


def _starts_with(unit: Ranked, side: frozenset[str]) -> bool:
    return bool(side & lexicon.content_stems(" ".join(unit.unit.plain.split()[:4])))


def _repeats(unit: Ranked, chosen: Sequence[Ranked]) -> bool:
    """Whether the unit says again what was chosen: about the same, in the same words."""
    return any(
        _shared(unit.stems, other.stems) > 0.9
        and _shared(frozenset(lexicon.stems(unit.raw)), frozenset(lexicon.stems(other.raw))) > 0.8
        for other in chosen
    )


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set that both hold."""
    return len(one & other) / (min(len(one), len(other)) or 1)


def by_score(unit: Ranked) -> tuple[float, int, int]:
    """Best score first; ties go to the better passage and the earlier unit."""
    return (round(unit.score, 6), -unit.excerpt.number, -unit.index)
