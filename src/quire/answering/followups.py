"""Follow-ups: a question that leans on the thread becomes one that stands alone.

Rules only: what the thread is about is read from the readers' own questions, and the answers only
say which of those topics they were about. A question that names its own topic is left as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from quire.answering import lexicon, markup
from quire.models import Message

_THING: Final = re.compile(r"\b(?:it|its|itself|this|that)\b", re.IGNORECASE)
_THINGS: Final = re.compile(
    r"\b(?:they|them|their|theirs|these|those|both|each of them)\b", re.IGNORECASE
)
_PEOPLE: Final = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE)
_POSSESSIVE: Final = frozenset(("its", "their", "theirs", "his", "her", "hers"))
_EMPTY_IT: Final = re.compile(
    r"\b(?:is|was|would|will|does|if|how|make|makes|made|find|takes?|worth)\s+it\s+"
    r"(?:possible|necessary|true|better|best|safe|legal|okay|ok|worth|good|bad|take|mean|hard|"
    r"easy|common|normal|important|that|to)\b"
    r"|\bit(?:'s| is| was)\s+(?:possible|necessary|true|better)\b",
    re.IGNORECASE,
)
_CONJUNCTION: Final = re.compile(
    r"\b(?:so|such|say|says|said|know|mean|means|think|sure|heard|read|believe|ensure|fact|way|"
    r"(?:\w+(?:s|tion|ment|er|or|ity|ing)))\s+that\b|\bthat\s+(?:is|are|was|were|can|could|has|have|"
    r"will|would|should|do|does|the|a|an|i|you|we)\b",
    re.IGNORECASE,
)
_POINTING: Final = re.compile(r"\b(?:this|that|these|those)\s+(?P<noun>[a-z]+)", re.IGNORECASE)
_ELLIPSIS: Final = re.compile(
    r"^\W*(?:and|or|but|what about|how about|what if|why not|how so|how come|what else|"
    r"anything else|any others?|what others?|which others?|other|else|more|tell me more|go on|"
    r"continue|for example|such as|like what|(?:some |an? )?examples?|in what way|which ones?)\b",
    re.IGNORECASE,
)
_OPENERS: Final = re.compile(
    r"^\W*(?:and|or|but|so|also|then|what about|how about|ok(?:ay)?|thanks?|thank you|well|"
    r"by the way|speaking of)\b[\s,]*",
    re.IGNORECASE,
)
_CHANGE: Final = re.compile(
    r"\b(?:by the way|btw|speaking (?:of|about)|changing (?:the )?(?:topic|subject)|"
    r"(?:new|different|another|unrelated) (?:topic|question|subject)|on another note|anyway)\b",
    re.IGNORECASE,
)
_VAGUE: Final = (
    "come came arrive go goes went work works happen happens happened tell told know knew "
    "give gave find found mean means meant think thought want wants wanted need take takes "
    "took play plays played see saw say says said ask help show start started begin began "
    "end ended put run try keep become became look allow cause change differ exist include "
    "involve explain describe define list compare discuss elaborate provide recommend "
    "suggest learn understand create created build built handle apply affect affects "
    "support supports main major important good best better different specific certain "
    "possible available new old first last next many often usually typically generally "
    "really actually exactly info information detail details example examples thing things "
    "way ways kind kinds type types difference differences part parts number amount time "
    "times people someone anyone something anything lot today now currently called "
)
_VERBS: Final = frozenset(_VAGUE.split())
"""Verbs and vague nouns: they are in many questions and the topic of none."""
_BEFORE_THINGS: Final = frozenset(
    ("a", "an", "the", "of", "in", "on", "with", "about", "for", "between", "is", "are", "by")
)
_RUN: Final = re.compile(r"[^\W_][\w'’.+/-]*")
_LOOK_BACK: Final = 6
_FEW_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class _Topic:
    """A phrase of an earlier question, and how much the thread is about it."""

    phrase: str
    stems: frozenset[str]
    weight: float
    plural: bool
    name: bool
    answered: bool
    """Whether the last answers speak of it."""


def standalone_question(question: str, history: Sequence[Message]) -> str:
    """The question with what it takes from the thread put into it; unchanged if it needs none.

    Pronouns become what they stand for; a question with words left out gets the topic in
    brackets. A change of topic carries nothing over.
    """
    text = question.strip()
    asked = [m.content for m in history if m.role == "user"][-_LOOK_BACK:]
    if not asked or not text or _CHANGE.search(text):
        return text
    own = _own_words(text)
    topics = _topics(asked, [m.content for m in history if m.role == "assistant"][-2:])
    topics = [topic for topic in topics if not topic.stems <= own]
    if not topics:
        return text
    resolved = _resolve_pronoun(text, own, topics)
    if resolved is not None:
        return resolved
    if not own:
        return _with_topic(text, topics[:2])
    if _is_elliptic(text, own):
        return _with_topic(text, [topic for topic in topics if topic.answered][:1])
    return text


def _own_words(text: str) -> frozenset[str]:
    return frozenset(
        lexicon.stem(word)
        for word in lexicon.words(text)
        if word not in lexicon.STOP_WORDS and word not in _VERBS and len(word) > 1
    )


def _is_elliptic(text: str, own: frozenset[str]) -> bool:
    """Whether too little is said for the question to be understood alone."""
    if lexicon.names(text):
        return False
    return len(own) <= _FEW_WORDS and bool(_ELLIPSIS.match(text))


def _resolve_pronoun(text: str, own: frozenset[str], topics: Sequence[_Topic]) -> str | None:
    """The question with its first pronoun replaced by the likeliest topic; None without one."""
    for pattern, fits in (
        (_PEOPLE, _is_person),
        (_THINGS, _is_plural),
        (_THING, _is_singular),
    ):
        match = pattern.search(text)
        if match is None or _is_idle(text, match):
            continue
        topic = next((t for t in topics if fits(t)), topics[0])
        if pattern is _PEOPLE and not _is_person(topic):
            continue
        rest = [t for t in topics if t is not topic][:1] if not own else []
        noun = _POINTING.match(text, match.start())
        if noun and lexicon.stem(noun["noun"].lower()) in own:
            return _with_topic(text, [topic] if topic.answered else [])
        phrase = topic.phrase
        if match.group().lower() in _POSSESSIVE:
            phrase += "'" if phrase.endswith("s") else "'s"
        replaced = text[: match.start()] + phrase + text[match.end() :]
        return _with_topic(replaced, rest)
    return None


def _is_person(topic: _Topic) -> bool:
    return topic.name or len(topic.stems) > 1


def _is_plural(topic: _Topic) -> bool:
    return topic.plural


def _is_singular(topic: _Topic) -> bool:
    return not topic.plural


def _is_idle(text: str, match: re.Match[str]) -> bool:
    """Whether it stands for nothing ("is it possible") or for something in the question."""
    word = match.group().lower()
    clause = re.split(r"[?.!,;]|\band\b", text[: match.start()])
    if len(clause) > 1 and any(_own_words(part) for part in clause[:-1]):
        return True
    if word in _POSSESSIVE and len(_own_words(clause[-1])) > 1:
        return True
    if word == "it":
        return bool(_EMPTY_IT.search(text))
    if word == "that":
        return any(m.start() <= match.start() < m.end() for m in _CONJUNCTION.finditer(text))
    return False


def _with_topic(text: str, topics: Sequence[_Topic]) -> str:
    if not topics:
        return text
    named = ", ".join(topic.phrase for topic in topics)
    bare = text.rstrip(" ?.!")
    mark = "?" if text.rstrip().endswith("?") or not text.rstrip().endswith((".", "!")) else "."
    return f"{bare} ({named}){mark}"


def _topics(asked: Sequence[str], answers: Sequence[str]) -> list[_Topic]:
    """What the thread is about, strongest first: recent, repeated, taken up by the answers."""
    spoken = Counter(stem for text in answers for stem in lexicon.stems(markup.plain(text)))
    repeated = Counter(stem for text in asked for stem in _own_words(text))
    found: dict[frozenset[str], _Topic] = {}
    for age, text in enumerate(reversed(asked)):
        leaning = any(p.search(text) for p in (_PEOPLE, _THINGS, _THING))
        for phrase in phrases_of(text):
            stems = _own_words(phrase)
            if not stems or stems in found:
                continue
            taken_up = min(3, max(spoken[stem] for stem in stems))
            again = max(repeated[stem] for stem in stems) - 1
            name = phrase in text[1:] and bool(re.search(r"[A-Z]", phrase))
            weight = (
                0.75**age * (0.5 if leaning else 1.0) * (1 + 0.5 * taken_up + 0.4 * min(again, 3))
            )
            weight *= (1.4 if name else 1.0) * (1.2 if len(stems) > 1 else 1.0)
            weight *= 1.3 if _is_named_thing(phrase, text) else 1.0
            last = phrase.split()[-1].lower()
            plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
            found[stems] = _Topic(phrase, stems, weight, plural, name, taken_up > 0)
    ordered = sorted(found.values(), key=lambda topic: -topic.weight)
    return list(_distinct(ordered))


def _is_named_thing(phrase: str, text: str) -> bool:
    """Whether an article or preposition before the phrase says that it is a thing."""
    before = text[: text.find(phrase)].split()[-1:] or [""]
    return before[0].lower() in _BEFORE_THINGS


def _distinct(topics: Iterable[_Topic]) -> Iterator[_Topic]:
    kept: list[_Topic] = []
    for topic in topics:
        if not any(topic.stems <= other.stems or other.stems <= topic.stems for other in kept):
            kept.append(topic)
            yield topic


def phrases_of(text: str) -> Iterator[str]:
    """Runs of words that carry meaning, in order: the things an earlier question named."""
    text = _OPENERS.sub("", markup.plain(text))
    run: list[str] = []
    end = 0
    for match in _RUN.finditer(text):
        word = match.group().rstrip(".'’-/")
        idle = word.lower() in lexicon.STOP_WORDS or word.lower() in _VERBS or len(word) < 2
        gap = text[end : match.start()]
        if run and (idle or gap.strip()):
            yield " ".join(run)
            run = []
        if not idle:
            run.append(word)
        end = match.start() + len(word)
    if run:
        yield " ".join(run)
