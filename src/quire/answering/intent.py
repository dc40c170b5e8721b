"""What kind of answer a question wants, read from its wording."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

from quire.answering import lexicon
from quire.answering.whole import Whole, WholeKind, whole_book

IntentKind = Literal[
    "fact",
    "definition",
    "number",
    "howto",
    "why",
    "code",
    "example",
    "comparison",
    "list",
    "yesno",
    "overview",
    "author",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """The shape of the answer that is wanted."""

    kind: IntentKind
    terms: frozenset[str]
    """Stems the question is about."""
    subject: frozenset[str] = frozenset()
    """Stems of what is to be defined."""
    names: frozenset[str] = frozenset()
    """Stems of words that the question writes with a capital letter, as names are."""
    sides: tuple[frozenset[str], ...] = ()
    """Stems of each thing to be compared."""
    expects: Literal["", "person", "time", "place", "number", "price"] = ""
    whole: Whole | None = None
    """What of the whole book is asked for."""
    detailed: bool = False
    """The reader asks for more than a few sentences."""

    @property
    def of_itself(self) -> bool:
        """Whether it is answered where the book speaks of itself, and nowhere else."""
        return self.whole is not None and not self.whole.elsewhere

    @property
    def sentences(self) -> int:
        """How many sentences are plenty."""
        if self.detailed:
            return 8
        few = {"definition": 3, "number": 2, "yesno": 3, "fact": 3, "overview": 3}
        return few.get(self.kind, 4)


_DETAIL: Final = re.compile(
    r"\b(?:explain|in detail|detailed|details|describe|elaborate|walk me through|overview|"
    r"step[- ]by[- ]step|steps?|summari[sz]e|everything|thorough(?:ly)?|tell me (?:more|all))\b",
    re.IGNORECASE,
)
_TOLD_ABOUT: Final = re.compile(r"\W*tell me about\b", re.IGNORECASE)
_COMPARISON: Final = (
    re.compile(
        r"\b(?:differences?|distinguish|distinction|compare|comparison|trade-?offs?|choose|choosing|"
        r"decide)\b\W*(?P<a>\w.*?) (?:and|from|with|to|vs\.?|versus|or) (?P<b>[^?.!]+)",
        re.IGNORECASE,
    ),
    re.compile(r"^(?P<a>.+?) (?:vs\.?|versus) (?P<b>[^?.!]+)", re.IGNORECASE),
    re.compile(
        r"\bhow (?:does|do|is|are) (?P<a>.+?) "
        r"(?:differ(?:ent)? from|compare[ds]? (?:to|with)) (?P<b>[^?.!]+)",
        re.IGNORECASE,
    ),
)
_DEFINITION: Final = re.compile(
    r"^\W*(?:so\s+|and\s+)?(?:what(?:'?s|\s+is|\s+are|\s+was|\s+were)\s+(?:meant by\s+)?|define\s+|"
    r"(?:explain|describe|tell me about)\s+(?:to me\s+)?(?!(?:how|why|what|when|where|which)\b)"
    r"(?=(?:an?\s+|the\s+)?[\w-]+(?:\s[\w-]+)?\s*[?.!]*$)|"
    r"(?:the )?(?:definition|meaning) of\s+|what does\s+)(?:an?\s+|the\s+)?"
    r"(?P<x>[^?.!,]+?)(?:\s+(?:mean|stand for|refer to))?"
    r"(?:\s+(?:exactly|actually|really))?\s*[?.!]*$",
    re.IGNORECASE,
)
_OF_SOMETHING: Final = re.compile(
    r"\b(?:of|for|in|on|by|with|used|called|name|number|purpose|role|reason|cause|way|best|first|"
    r"most|percentage|when|that)\b",
    re.IGNORECASE,
)
_HOWTO: Final = re.compile(
    r"\bhow (?:do|can|should|would|could|to|might)\b|\bhow (?:do|can|should) (?:i|you|we|one)\b|"
    r"\bsteps? (?:to|for|of|in)\b|\b(?:procedure|instructions) (?:to|for)\b|\bset ?up\b",
    re.IGNORECASE,
)
_HOW_WORKS: Final = re.compile(
    r"\bhow (?:does|do|did) .+ (?:work|communicate|interact|happen)", re.I
)
_WHY: Final = re.compile(
    r"\bwhy\b|\breasons? (?:for|why|that)\b|\bwhat caus(?:es?|ed)\b|\bpurpose of\b|\bhow come\b",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"\b(?:code|snippet|command(?: line)?|syntax|script|config(?:uration)? file|yaml|"
    r"what do i (?:type|run))\b|\bexample (?:code|program|of (?:code|a (?:node|launch|class)))",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(r"(?<!\bfor )\bexample\b(?! (?:book|project|app)\b)", re.IGNORECASE)
_LIST: Final = re.compile(
    r"^\W*(?:list|name|enumerate|identify)\b|\bwhat (?:are|were) (?:the|some|all)\b|"
    r"\bwhich\b.+\bare\b|\b(?:types|kinds|parts|components|steps|stages|phases|layers|features|"
    r"examples|benefits|advantages|disadvantages|limitations|ways|reasons|differences) "
    r"(?:of|are|to)\b",
    re.IGNORECASE,
)
_THE_SEVERAL: Final = re.compile(
    r"^\W*(?:so\s+|and\s+)?what (?:are|were) (?:the|some|all)\b", re.IGNORECASE
)
_NUMBER: Final = re.compile(
    r"\bhow (?:many|much|long|often|far|fast|large|big|old|tall|high|deep|wide|heavy|hot)\b|"
    r"\bwhat (?:percent(?:age)?|number|rate|size|frequency|version|year|date|speed|distance|port|"
    r"amount|value|age|population|proportion|fraction|score)\b",
    re.IGNORECASE,
)
_YES_NO: Final = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|had|must|may)\b",
    re.IGNORECASE,
)
_ASKING: Final = (
    "show command code snippet syntax exampl explain list describ defin differ differenc "
    "distinguish compar mean stand step tell detail pleas summar summari overview identifi name "
    "stand know want understand work"
)
_META: Final = frozenset(_ASKING.split())
_PRICE: Final = re.compile(
    r"^\W*(?:how much|what)\b(?:.*\bcosts?\W*\Z|.*\bprices?\b)", re.IGNORECASE
)
_WORDS: Final = re.compile(r"[^\W\d_]+")
_TITLE: Final = 0.6
"""Share of words with a capital letter from which on they are the habit of who writes."""
_ENGLISH: Final = 0.5
"""Share of words without one that are little words of English, where the language is."""
_LEAST_NAME: Final = 4
"""Letters; what is shorter is often an abbreviation of what the book spells out."""
_LONGEST_NAMING: Final = 200
_INSIDE: Final = re.compile(r"(?<=[^\s.?!:] )[\"'(`“‘]?\w*[A-Z]\w*")
"""Words with a capital letter that no sentence begins with."""
_ARTICLES: Final = re.compile(r"^(?:an?|the|using|between)\s+", re.IGNORECASE)


_OF_WHOLE: Final[dict[WholeKind, IntentKind]] = {
    "about": "overview",
    "audience": "fact",
    "contents": "list",
    "structure": "list",
    "needs": "fact",
    "start": "howto",
    "author": "author",
}


@lru_cache(maxsize=1024)
def read_intent(question: str, *, of_book: bool = True) -> Intent:
    """The intent behind a question; `fact` when its wording says nothing special.

    Put to a text that isn't `of_book`, no question asks for the book as a whole.
    """
    question = " ".join(question.split())
    return replace(_read(question, of_book=of_book), names=_names(question))


def _read(question: str, *, of_book: bool) -> Intent:
    terms = _terms(question)
    whole = whole_book(question) if of_book else None
    if whole:
        return Intent(kind=_OF_WHOLE[whole.kind], terms=terms, whole=whole)
    detailed = bool(_DETAIL.search(question))
    sides = _sides(question)
    if sides:
        return Intent(kind="comparison", terms=terms, sides=sides, detailed=detailed)
    if _WHY.search(question):
        return Intent(kind="why", terms=terms, detailed=detailed)
    if _CODE.search(question):
        return Intent(kind="code", terms=terms, detailed=detailed)
    if _EXAMPLE.search(question):
        return Intent(kind="example", terms=terms, detailed=detailed)
    if _PRICE.search(question):
        return Intent(kind="number", terms=terms, expects="price", detailed=detailed)
    if _NUMBER.search(question):
        return Intent(kind="number", terms=terms, expects="number", detailed=detailed)
    if _HOWTO.search(question) and not _HOW_WORKS.search(question):
        return Intent(kind="howto", terms=terms, detailed=detailed)
    defined = None if _THE_SEVERAL.match(question) else _DEFINITION.match(question)
    if defined and len(defined["x"].split()) <= 5 and not _OF_SOMETHING.search(defined["x"]):
        subject = lexicon.content_stems(defined["x"])
        detailed = detailed or bool(_TOLD_ABOUT.match(question))
        return Intent(kind="definition", terms=terms, subject=subject, detailed=detailed)
    if _LIST.search(question):
        return Intent(kind="list", terms=terms, detailed=detailed)
    if _YES_NO.match(question):
        return Intent(kind="yesno", terms=terms, detailed=detailed)
    return Intent(kind="fact", terms=terms, expects=_expected(question), detailed=detailed)


def _terms(question: str) -> frozenset[str]:
    """What the question is about, without the words that only say how to answer."""
    every = lexicon.content_stems(question)
    return frozenset(term for term in every if term not in _META) or every


def _names(question: str) -> frozenset[str]:
    """None where capital letters say nothing: at a beginning, or where most words have one.

    A long question tells a story or shows code, with names of its own; German has capital
    letters for every noun.
    """
    words = [word for word in _WORDS.findall(question)[1:] if len(word) > 1]
    small = [word for word in words if word == word.lower()]
    if len(question) > _LONGEST_NAMING or len(words) - len(small) >= _TITLE * len(words):
        return frozenset()
    if sum(word in lexicon.STOP_WORDS for word in small) < _ENGLISH * len(small):
        return frozenset()
    inside = [word for word in _INSIDE.findall(question) if len(word) >= _LEAST_NAME]
    return lexicon.content_stems(" ".join(inside)) & _terms(question)


def _sides(question: str) -> tuple[frozenset[str], ...]:
    for pattern in _COMPARISON:
        match = pattern.search(question)
        if match:
            found = [lexicon.content_stems(_ARTICLES.sub("", match[side])) for side in ("a", "b")]
            one, other = found[0] - found[1], found[1] - found[0]
            if one and other and max(len(one), len(other)) <= 6:
                return one, other
    return ()


def _expected(question: str) -> Literal["", "person", "time", "place"]:
    words = set(lexicon.words(question)[:6])
    if words & {"who", "whom", "whose"}:
        return "person"
    if "when" in words:
        return "time"
    return "place" if "where" in words else ""
