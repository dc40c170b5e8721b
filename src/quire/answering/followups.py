"""Follow-ups: a question that leans on the thread becomes one that stands alone.

Rules only: what the thread is about is read from the readers' own questions, and the answers only
say which of those topics they were about. A question that names its own topic is left as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from quire.answering import courtesy, lexicon, markup
from quire.answering.whole import names_the_book, whole_book
from quire.models import Message

_THING: Final = re.compile(r"\b(?:it|its|itself|this|that)\b|\bone(?=\W*\Z)", re.IGNORECASE)
_DONE_TO_ONE: Final = re.compile(r"\b(?:i|you|we|they|to)\s+\w+\s+\Z", re.IGNORECASE)
"""Before a last "one" that is one of what was spoken of: "How do I write one?"."""
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
    r"(?:(?!(?:is|was|does|has|as|this)\b)\w+(?:s|tion|ment|er|or|ity|ing)))\s+that\b|"
    r"\bthat\s+(?:is|are|was|were|can|could|has|have|"
    r"will|would|should|do|does|the|a|an|i|you|we)\b",
    re.IGNORECASE,
)
_RUN_TOGETHER: Final = re.compile(r"\A(what|how|where|who|when|why)s(?=\s)", re.IGNORECASE)
_UNMARKED: Final = re.compile(
    r"(?:so |and |but |ok |okay )*"
    r"(?:what|how|why|when|where|which|who|whom|whose|is|are|was|were|do|does|"
    r"did|can|could|should|would|will|has|have|had|may|must)(?:'s)? [^?!\n]{0,198}[\w)\"'`\]]",
    re.IGNORECASE,
)
"""A question that ends without its mark."""
_MORE: Final = re.compile(r"['’\s,]*\w")
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
    "support supports info information detail details example examples thing things "
    "way ways kind kinds type types difference differences part parts number amount time "
    "times people someone anyone something anything lot today now currently called "
)
_QUALITIES: Final = frozenset(
    "main major important good best better different specific certain possible available new old "
    "first last next many often usually typically generally really actually exactly".split()
)
_VERBS: Final = _QUALITIES | frozenset(_VAGUE.split())
"""Verbs and vague nouns: they are in many questions and the topic of none."""
_ARTICLES: Final = frozenset(("a", "an", "the"))
_BEFORE_THINGS: Final = _ARTICLES | frozenset(
    ("of", "in", "on", "with", "about", "for", "between", "is", "are", "by")
)
_BEFORE_VERBS: Final = frozenset(
    "i you we they he she it to not can could should would will must may might let's "
    "most more very so too how".split()
)
_BEING: Final = frozenset(("is", "are", "was", "were", "be", "been", "being"))
_COMPARING: Final = re.compile(r"\b(?:between|compare[ds]?|vs|versus|differ\w*)\b", re.IGNORECASE)
_RUN: Final = re.compile(r"[^\W_][\w'’.+/-]*")
_LOOK_BACK: Final = 6
_FEW_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question of the thread."""

    text: str
    meant: str
    """With what it takes from the thread put into it."""
    carried: tuple[str, ...] = ()
    """What it takes."""


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
    pair: str = ""
    """It and what it was compared with: `map and odom`."""


def standalone_question(question: str, history: Sequence[Message]) -> str:
    """The question with what it takes from the thread put into it; unchanged if it needs none.

    Pronouns become what they stand for; a question with words left out gets the topic in
    brackets. A change of topic carries nothing over.
    """
    asked: list[_Asked] = []
    answers: list[str] = []
    for message in history:
        if message.role == "user" and _has_topic(message.content):
            asked.append(_resolved(message.content.strip(), asked, answers))
        elif message.role == "assistant":
            answers.append(message.content)
    return _resolved(_well_put(question.strip()), asked, answers).meant


def _well_put(question: str) -> str:
    """With the apostrophe and the question mark that a hurried reader leaves out.

    The reader model learned from questions that have one, and refuses less without.
    """
    question = _RUN_TOGETHER.sub(r"\1's", question)
    return f"{question}?" if _UNMARKED.fullmatch(question) else question


def _has_topic(question: str) -> bool:
    """Whether a question is about something in the book, and not about the book or nothing."""
    return whole_book(question) is None and courtesy.reply_to(question, "") is None


def _resolved(text: str, asked: Sequence[_Asked], answers: Sequence[str]) -> _Asked:
    """A question of a thread, after those before it."""
    asked = asked[-_LOOK_BACK:]
    if not asked or not text or _CHANGE.search(text) or names_the_book(text):
        return _Asked(text, text)
    own = _own_words(text)
    topics = _topics(asked, answers[-2:])
    topics = [topic for topic in topics if not topic.stems <= own]
    if not topics:
        return _Asked(text, text)
    resolved = _resolve_pronoun(text, own, topics)
    if resolved is not None:
        return resolved
    if not own:
        return _with_topic(text, topics[:2])
    if _is_elliptic(text, own):
        return _with_topic(text, [topic for topic in topics if topic.answered][:1])
    return _Asked(text, text)


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


def _resolve_pronoun(text: str, own: frozenset[str], topics: Sequence[_Topic]) -> _Asked | None:
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
        final = match.group().lower() in ("this", "that") and not _MORE.match(text, match.end())
        rest = [t for t in topics if t is not topic][:1] if final or not own else []
        noun = _POINTING.match(text, match.start())
        if noun and lexicon.stem(noun["noun"].lower()) in own:
            return _with_topic(text, [topic] if topic.answered else [])
        phrase = topic.pair if topic.pair and pattern is _THINGS else topic.phrase
        if match.group().lower() in _POSSESSIVE:
            phrase += "'" if phrase.endswith("s") else "'s"
        replaced = text[: match.start()] + phrase + text[match.end() :]
        whole = _with_topic(replaced, rest)
        return _Asked(text, whole.meant, (topic.phrase, *whole.carried))
    return None


def _is_person(topic: _Topic) -> bool:
    return topic.name or len(topic.stems) > 1


def _is_plural(topic: _Topic) -> bool:
    return topic.plural or bool(topic.pair)


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
    if word == "one":
        return not _DONE_TO_ONE.search(text[: match.start()])
    if word == "that" and _MORE.match(text, match.end()):
        return any(m.start() <= match.start() < m.end() for m in _CONJUNCTION.finditer(text))
    return False


def _with_topic(text: str, topics: Sequence[_Topic]) -> _Asked:
    if not topics:
        return _Asked(text, text)
    carried = tuple(topic.phrase for topic in topics)
    named = ", ".join(carried)
    bare = text.rstrip(" ?.!")
    mark = "?" if text.rstrip().endswith("?") or not text.rstrip().endswith((".", "!")) else "."
    return _Asked(text, f"{bare} ({named}){mark}", carried)


def _topics(asked: Sequence[_Asked], answers: Sequence[str]) -> list[_Topic]:
    """What the thread is about, strongest first: recent, repeated, taken up by the answers."""
    spoken = Counter(stem for text in answers for stem in lexicon.stems(markup.plain(text)))
    repeated = Counter(stem for question in asked for stem in _own_words(question.text))
    found: dict[frozenset[str], _Topic] = {}
    for age, question in enumerate(reversed(asked)):
        text = question.text
        leaning = any(p.search(text) for p in (_PEOPLE, _THINGS, _THING))
        named = list(phrases_of(text))
        pairs = _pairs(named, text)
        own = [(phrase, 0.5 if leaning else 1.0) for phrase in named]
        for phrase, share in (*own, *((phrase, 1.0) for phrase in question.carried)):
            stems = _own_words(phrase)
            if not stems:
                continue
            pair = pairs.get(phrase, "")
            if stems in found:
                found[stems] = replace(found[stems], pair=found[stems].pair or pair)
                continue
            taken_up = min(3, max(spoken[stem] for stem in stems))
            again = max(repeated[stem] for stem in stems) - 1
            name = phrase in text[1:] and bool(re.search(r"[A-Z]", phrase))
            weight = 0.75**age * share * (1 + 0.5 * taken_up + 0.4 * min(max(again, 0), 3))
            weight *= (1.4 if name else 1.0) * (1.2 if len(stems) > 1 else 1.0)
            weight *= 1.3 if _is_named_thing(phrase, text) else 1.0
            weight *= 0.3 if _is_no_thing(phrase, text) else 1.0
            last = phrase.split()[-1].lower()
            plural = last.endswith("s") and not last.endswith(("ss", "us", "is"))
            found[stems] = _Topic(phrase, stems, weight, plural, name, taken_up > 0, pair)
    ordered = sorted(found.values(), key=lambda topic: -topic.weight)
    return list(_distinct(ordered))


def _pairs(phrases: Sequence[str], text: str) -> dict[str, str]:
    """Things that a question compares, by the first of them."""
    found: dict[str, str] = {}
    if not _COMPARING.search(text):
        return found
    for one, other in pairwise(phrases):
        joined = rf"{re.escape(one)} (?:and|or|vs\.?|versus) (?:an? |the )?{re.escape(other)}"
        if re.search(joined, text):
            found[one] = f"{one} and {other}"
    return found


def _is_named_thing(phrase: str, text: str) -> bool:
    """Whether an article or preposition before the phrase says that it is a thing."""
    return _word_before(phrase, text) in _BEFORE_THINGS


def _is_no_thing(phrase: str, text: str) -> bool:
    """Whether a lone word is what somebody does, or how something is."""
    before = _word_before(phrase, text)
    if " " in phrase or not before:
        return False
    return before in _BEFORE_VERBS or (before in _BEING and phrase.endswith("ed"))


def _word_before(phrase: str, text: str) -> str:
    return (text[: max(0, text.find(phrase))].split()[-1:] or [""])[0].lower()


def _distinct(topics: Iterable[_Topic]) -> Iterator[_Topic]:
    kept: list[_Topic] = []
    for topic in topics:
        if not any(topic.stems <= other.stems or other.stems <= topic.stems for other in kept):
            kept.append(topic)
            yield topic


def phrases_of(text: str) -> Iterator[str]:
    """Runs of words that carry meaning, in order: the things an earlier question named.

    A vague word counts right after an article: "the support polygon", not "does it support".
    """
    text = _OPENERS.sub("", markup.plain(text))
    run: list[str] = []
    end, before = 0, ""
    for match in _RUN.finditer(text):
        word = match.group().rstrip(".'’-/")
        vague = word.lower() in (_QUALITIES if before in _ARTICLES else _VERBS)
        idle = vague or word.lower() in lexicon.STOP_WORDS or len(word) < 2
        if run and (idle or text[end : match.start()].strip()):
            yield from _named(run)
            run = []
        if not idle:
            run.append(word)
        end, before = match.start() + len(word), word.lower()
    yield from _named(run)


def _named(run: Sequence[str]) -> Iterator[str]:
    if any(word.lower() not in _VERBS for word in run):
        yield " ".join(run)
