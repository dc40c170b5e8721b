"""Questions about the book as a whole: what it is about, whom it is for, where to begin.

Search hardly tells where these are answered: many passages speak of a book, a start or a reader.
Their answers stand on the pages that introduce the book, under headings that promise them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from quire.answering import lexicon
from quire.answering.overview import is_introduction
from quire.models import Chunk, Passage

WholeKind = Literal["about", "audience", "contents", "structure", "needs", "start", "author"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """One such question."""

    kind: WholeKind
    asked: str
    """The question as it is searched and read for, however it was put."""
    forms: re.Pattern[str]
    """How it is put."""
    sections: re.Pattern[str]
    """Headings of sections that answer it."""
    words: re.Pattern[str] | None = None
    """How a passage speaks that answers it under another heading."""
    elsewhere: bool = False
    """It may be said on any page."""
    instead: Whole | None = None
    """What is nearest to it, where it isn't said."""

    def place(self, chunk: Chunk) -> int:
        """When a chunk of an introducing page is read; less is sooner."""
        titled = [title for title in chunk.section_path if self.sections.search(title)]
        if self.kind == "about":
            return 0 if titled else 1 + chunk.chunk_index
        if any(_ITSELF.search(title) for title in titled):
            return 0
        if titled:
            return 1
        worded = self.words and self.words.search(chunk.markdown.replace("’", "'"))
        return 2 if worded else _UNSAID

    def said(self, passages: Sequence[Passage]) -> tuple[Passage, ...]:
        """Those of an introducing page's passages that surely answer it."""
        if self.kind == "about":
            return tuple(
                passage
                for passage in passages
                if self.place(passage.chunk) <= _OPENING and is_introduction(passage.chunk)
            )
        places = [self.place(passage.chunk) for passage in passages]
        first = min(places, default=_UNSAID)
        return tuple(
            passage
            for passage, place in zip(passages, places, strict=True)
            if place == first < _UNSAID
        )


_LONGEST: Final = 200
_UNSAID: Final = 3
_OPENING: Final = 3
"""Chunks at the beginning of a page that may say what the whole is about."""
_KINDS_OF_BOOK: Final = (
    r"(?:book|textbook|ebook|e-book|documentation|docs?|course|guide|manual|handbook|site|website|"
    r"tutorial|material)s?"
)
_ITSELF: Final = re.compile(rf"\b(?:this|the) {_KINDS_OF_BOOK}\b|\byou\b", re.IGNORECASE)
_BOOK: Final = rf"(?:(?:this|these|your)\s+(?:\w+\s+)?{_KINDS_OF_BOOK}|the\s+{_KINDS_OF_BOOK})"
_NAMED: Final = re.compile(rf"\b{_BOOK}\b", re.IGNORECASE)
_IT: Final = rf"(?:{_BOOK}|this)"
_OF_IT: Final = rf"(?:\s+(?:of|for|in|to|from|with|by reading)\s+(?:{_IT}|here))?"
AUTHORED: Final = re.compile(
    r"(?:^[\W_]*by|\b(?:[Ww]ritten|[Cc]reated|[Mm]aintained|[Ee]dited) by|\b[Aa]uthors?:?)"
    r"[\W_]+[A-Z][\w.'’-]+(?: [A-Z][\w.'’-]*)+",
    re.MULTILINE,
)
"""How a page names who wrote the book."""


def _forms(*forms: str) -> re.Pattern[str]:
    """The forms as whole questions, with what politeness puts around them."""
    return re.compile(
        r"(?:(?:so|and|ok|okay|hi|hello|hey|please|i(?:'?m| am) new(?: here| to this)?)[\s,.!]+)*"
        r"(?:can you |could you |please )*"
        rf"(?:{'|'.join(forms)})(?:\s+(?:please|exactly|actually|really|then))?\s*[?.!]*",
        re.IGNORECASE,
    )


def _any(*words: str) -> re.Pattern[str]:
    return re.compile("|".join(words), re.IGNORECASE)


ABOUT: Final = Whole(
    kind="about",
    asked="What is this book about?",
    forms=_forms(
        rf"what(?:'?s|\s+is|\s+are)\s+{_IT}(?:\s+all)?\s+about",
        rf"tell me what\s+{_IT}\s+(?:is|are)(?:\s+all)?\s+about",
        rf"what(?:'?s|\s+is|\s+are)\s+(?:this|these)(?:\s+{_KINDS_OF_BOOK})?",
        rf"what(?:'?s|\s+is)\s+the\s+(?:topic|subject|point|purpose|goal|aim)\s+of\s+{_IT}",
        rf"what\s+(?:do|does)\s+{_IT}\s+(?:explain|describe|talk about|deal with)",
        rf"(?:summari[sz]e|describe|introduce|explain|tell me about)\s+{_IT}",
        r"(?:(?:give|show|tell|write)(?: me)?\s+)?(?:an?\s+|the\s+)?(?:short |brief |quick )?"
        rf"(?:summary|overview|introduction|synopsis){_OF_IT}",
    ),
    sections=_any(rf"\babout (?:this|the) {_KINDS_OF_BOOK}\b", r"\bis (?:it )?about\b"),
)
_WHOLE: Final = (
    ABOUT,
    Whole(
        kind="audience",
        asked="Who is this book for?",
        forms=_forms(
            rf"who(?:'?s|\s+is|\s+are)\s+{_IT}\s+(?:\w+\s+)?(?:for|at|to)",
            rf"who\s+(?:should|can|could|would|may)\s+(?:read|use|take|study|follow)\s+{_IT}",
            rf"(?:who|what)(?:'?s|\s+is)\s+the\s+(?:target\s+|intended\s+)?(?:audience|readership){_OF_IT}",
            rf"(?:is|are)\s+{_IT}\s+(?:\w+\s+)?(?:for|to)\s+\w+",
            rf"for\s+whom\s+(?:is|are)\s+{_IT}(?:\s+\w+)?",
        ),
        sections=_any(r"\bwho\b.*\b(?:for|read|use)\b", r"\baudience\b", r"\breaders?\b"),
        words=_any(
            rf"\b(?:this|the) {_KINDS_OF_BOOK} (?:is|are|was) (?:\w+ )?"
            r"(?:for|aimed at|targeted at|addressed to)\b"
        ),
    ),
    Whole(
        kind="contents",
        asked="What will I learn in this book?",
        forms=_forms(
            r"(?:what|which)\s+(?:topics?|subjects?|chapters?|modules?|areas?|concepts?)\s+"
            rf"(?:does|do|will)\s+{_IT}\s+(?:cover|teach|contain|include|have)",
            r"(?:what|which)\s+(?:topics?|subjects?|chapters?|modules?|areas?|concepts?)\s+are\s+"
            rf"(?:covered|taught|there){_OF_IT}",
            rf"what\s+(?:does|do|will)\s+{_IT}\s+(?:cover|contain|include|teach)(?:\s+(?:me|us|you))?",
            rf"what\s+(?:will|can|do|would|could|should)\s+(?:i|we|you)\s+learn{_OF_IT}",
            rf"what(?:'?s|\s+is|\s+are)\s+(?:in|inside|covered\s+in|taught\s+in)\s+{_IT}",
            rf"(?:show\s+(?:me\s+)?)?(?:the\s+)?table of contents{_OF_IT}",
        ),
        sections=_any(
            r"\blearn",
            r"\boutcomes?\b",
            r"\bobjectives?\b",
            r"\bcontents\b",
            r"\borgani[sz]ed\b",
            r"\bcovers?\b",
            r"\bcurriculum\b",
            r"\bwhat(?:'s|’s| is) in\b",
            r"\btopics\b",
        ),
        words=_any(r"\byou(?:'ll| will) (?:learn|be able)\b"),
        instead=ABOUT,
    ),
    Whole(
        kind="structure",
        asked="How is this book organized?",
        forms=_forms(
            rf"how\s+(?:is|are)\s+{_IT}\s+(?:organi[sz]ed|structured|laid out|divided|arranged)",
            rf"what(?:'?s|\s+is)\s+the\s+(?:structure|organi[sz]ation|layout)\s+of\s+{_IT}",
            r"how\s+many\s+(?:chapters?|modules?|parts?|lessons?)\s+(?:does\s+|do\s+|are\s+)?"
            rf"(?:{_IT}\s+(?:have|has|contain)|there{_OF_IT}|in\s+{_IT})",
        ),
        sections=_any(r"\borgani[sz]", r"\bstructure", r"\bcontents\b", r"\bhow to (?:use|read)\b"),
        words=_any(
            rf"\b{_KINDS_OF_BOOK} (?:is|has|consists|contains|comes)\b[^.]*"
            r"\b(?:parts|chapters|modules|sections)\b"
        ),
        instead=ABOUT,
    ),
    Whole(
        kind="needs",
        asked="What do I need to know before I read this book?",
        forms=_forms(
            rf"what\s+are\s+the\s+(?:prerequisites|requirements|preconditions){_OF_IT}",
            r"what\s+(?:do|should|must)\s+(?:i|we|you)\s+(?:need\s+)?(?:to\s+)?know\s+"
            r"(?:before|first)(?:\s+\w+){0,4}",
            r"what\s+(?:background|knowledge|experience|skills?)\s+(?:do|should|must)\s+"
            r"(?:i|we|you)\s+(?:need|have)(?:\s+\w+){0,4}",
            r"do\s+(?:i|we|you)\s+need\s+(?:any\s+)?(?:prior|previous|programming|coding)\s+"
            r"(?:knowledge|experience|skills?)(?:\s+\w+){0,4}",
            rf"(?:any\s+|the\s+)?prerequisites{_OF_IT}",
        ),
        sections=_any(
            r"\bprerequisite",
            r"\brequirement",
            r"\bbefore you\b",
            r"\bwhat you(?:'ll|’ll| will)? need\b",
            r"\bwho\b.*\bfor\b",
            r"\bassum",
        ),
        elsewhere=True,
    ),
    Whole(
        kind="start",
        asked="How do I get started?",
        forms=_forms(
            r"(?:how|where)\s+(?:do|can|should|shall|could)\s+(?:i|we|you|one)\s+"
            rf"(?:get started|start|begin)(?:\s+(?:with|reading|learning|using)\s+{_IT})?",
            r"(?:how|where)\s+to\s+(?:get started|start|begin)",
            r"get(?:ting)?\s+started",
        ),
        sections=_any(
            r"\bget(?:ting)? started\b",
            r"\bquick ?start\b",
            r"\bfirst steps\b",
            r"\bfast track\b",
            r"\bwhere to (?:start|begin)\b",
            r"\bstart here\b",
            r"\bhow to read\b",
            r"\binstall",
        ),
        elsewhere=True,
    ),
    Whole(
        kind="author",
        asked="Who wrote this book?",
        forms=_forms(
            rf"who\s+(?:wrote|made|created|published|maintains|authored)\s+{_IT}",
            rf"who(?:'?s|\s+is|\s+are)\s+(?:behind\s+{_IT}|the\s+(?:authors?|writers?){_OF_IT})",
        ),
        sections=_any(r"\bauthors?\b"),
        words=AUTHORED,
    ),
)


@lru_cache(maxsize=1024)
def whole_book(question: str) -> Whole | None:
    """What of the whole book a question asks for, if it does."""
    plain = _plain(question)
    return next((whole for whole in _WHOLE if whole.forms.fullmatch(plain)), None)


def _plain(question: str) -> str:
    """The question to be matched; empty where it is too long to ask for so little."""
    plain = " ".join(question.replace("’", "'").split())
    return plain if len(plain) <= _LONGEST else ""


def names_the_book(question: str) -> bool:
    """Whether it asks so in as many words; "What is this about?" may mean anything in a thread."""
    return whole_book(question) is not None and bool(_NAMED.search(question))


_WHAT_IT_IS: Final = _forms(
    r"what(?:'?s|\s+is|\s+are)\s+(?P<a>.+?)(?:\s+(?:used\s+|good\s+)?for)?",
    r"what\s+(?:can|does|do)\s+(?P<b>.+?)\s+do",
    r"(?:explain|describe|tell me about|introduce|define)\s+(?P<c>.+?)",
    r"(?:an?\s+)?(?:introduction\s+to|overview\s+of)\s+(?P<d>.+?)",
    r"(?P<e>[\w.+#-]+(?:\s[\w.+#-]+)?)",
)
_WHAT_SPEAKS_FOR_IT: Final = _forms(
    r"why\s+(?:should|would|do|does)\s+(?:i|we|you|one|people|anyone)\s+"
    r"(?:use|choose|learn|pick)\s+(?P<a>.+?)",
    r"why\s+(?:use\s+|choose\s+|learn\s+)?(?P<b>.+?)",
    r"(?:what\s+are\s+|list\s+)?(?:the\s+)?(?:main\s+|key\s+|core\s+|most important\s+)?"
    r"(?:features|advantages|benefits|strengths|capabilities|goals|use cases)\s+of\s+(?P<c>.+?)",
)
_MOST_WORDS: Final = 4
_NO_NAME: Final = lexicon.content_stems(
    "book textbook ebook documentation docs doc course guide manual handbook site website tutorial "
    "material quiz qa introduction learn learning programming language"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What the book is named after, as a question asks for it."""

    stems: frozenset[str]
    what: bool
    """Asked is what it is or does; else what speaks for it."""
    is_book: bool
    """It is all that the book is called."""


@lru_cache(maxsize=1024)
def subject_asked(question: str, book: str) -> Subject | None:
    """The subject of the book, if a question asks for it and nothing more; `book` is its name."""
    plain = _plain(question)
    for forms in (_WHAT_IT_IS, _WHAT_SPEAKS_FOR_IT):
        match = forms.fullmatch(plain)
        subject = next((x for x in match.groups() if x), "") if match else ""
        stems = lexicon.content_stems(subject)
        if len(subject.split()) > _MOST_WORDS or not stems - _NO_NAME:
            continue
        joined = "".join(lexicon.words(subject))
        if stems <= lexicon.content_stems(book) or joined in lexicon.words(book):
            name = lexicon.content_stems(book) - _NO_NAME
            return Subject(stems, what=forms is _WHAT_IT_IS, is_book=stems == name)
    return None
