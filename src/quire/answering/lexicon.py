"""Words as the checks see them: stems, numbers, names, negation, opposites."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS: Final = _set(
    """
    a about above after again all also am an and any are as at be because been before being
    below between both but by can could did do does doing done down during each either else etc
    ever every few for from further get gets got had has have having he her here hers him his
    how however i if in into is it its itself just kind let lets like made make makes many may
    me might more most much must my need needs no nor not of off on once one only onto or other
    our out over own per please same shall she should so some such than that the their theirs
    them then there these they thing this those through thus to too under until up upon us use
    used uses using very via was way we well were what when where whether which while who whom
    whose why will with within without would yes you your yours
    """
)

_NEGATIONS: Final = _set(
    """
    not no never none cannot neither nor nothing without unable isn aren wasn weren don doesn
    didn can't won't couldn shouldn wouldn hasn haven hadn mustn needn
    """
)

_OPPOSITES: Final = tuple(
    (_set(a), _set(b))
    for a, b in (
        ("increase increases increased", "decrease decreases decreased reduce reduces reduced"),
        ("before", "after"),
        ("more", "less fewer"),
        ("higher larger greater bigger", "lower smaller"),
        ("faster quicker", "slower"),
        ("enable enables enabled", "disable disables disabled"),
        ("always", "never"),
        ("required mandatory", "optional"),
        ("minimum min least", "maximum max most"),
        ("above", "below"),
        ("true", "false"),
        ("allow allows allowed", "forbid forbids forbidden prohibit prohibits prevent prevents"),
        ("synchronous", "asynchronous"),
        ("static", "dynamic"),
        ("left", "right"),
        ("first", "last"),
        ("safe", "unsafe"),
        ("mutable", "immutable"),
        ("succeeds succeed succeeded", "fails fail failed"),
    )
)

_COUNTED: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
_NUMBER_WORDS: Final = {word: str(i) for i, word in enumerate(_COUNTED.split())} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "hundred": "100",
    "thousand": "1000",
}

_LONG: Final = 5
"""Letters of a stem that doesn't stand in other words by chance."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_NUMBER: Final = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,]\d+)*|(?<=[^\W\d_])\d+(?:\.\d+)*")
_CODE: Final = re.compile(r"(?<!`)`++([^`]++)`+")
_IDENTIFIER: Final = re.compile(
    r"\b(?:[A-Za-z]\w*_\w+|[A-Z]{2,}\w*|[A-Z]?[a-z]+[A-Z]\w*|[A-Za-z]+\d\w*|\w+(?:\.\w+)+\(?)"
)
_CAPITALISED: Final = re.compile(r"(?<=[\w,;:)’'\"”] )[A-Z][a-z]+\w*")


@cache
def _stemmer() -> Any:
    import py_rust_stemmers

    stemmers: Any = py_rust_stemmers
    return stemmers.SnowballStemmer("english")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The English stem of a lower-case word; words of other scripts stay as they are."""
    return str(_stemmer().stem_word(word)) if word.isascii() else word


def words(text: str) -> list[str]:
    """Lower-case words in order, typographic apostrophes made plain."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


@lru_cache(maxsize=8192)
def stems(text: str) -> tuple[str, ...]:
    """Stems of all words in order, stop words included."""
    return tuple(stem(word) for word in words(text))


@lru_cache(maxsize=8192)
def content_stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    return frozenset(
        stem(word) for word in words(text) if word not in STOP_WORDS and len(word) > 1
    ) | frozenset(word for word in words(text) if word.isdigit())


def held(wanted: frozenset[str], text: str) -> frozenset[str]:
    """Those of the stems that the text has, also inside a word, as two, or with accents."""
    text = _unaccented(text)
    known, each = content_stems(text), words(text)
    pairs = [one + other for one, other in pairwise(each)]

    def has(stem: str) -> bool:
        if stem in known or len(stem) < _LONG:
            return stem in known
        return any(stem in word for word in each) or any(pair.startswith(stem) for pair in pairs)

    return frozenset(stem for stem in wanted if has(_unaccented(stem)))


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


@lru_cache(maxsize=8192)
def numbers(text: str) -> frozenset[str]:
    """Numbers in digits or words, in one spelling: `1,000` and `thousand` are `1000`."""
    found = {_plain_number(match) for match in _NUMBER.findall(text)}
    found |= {_NUMBER_WORDS[word] for word in words(text) if word in _NUMBER_WORDS}
    return frozenset(found)


def claimed_numbers(text: str) -> frozenset[str]:
    """Numbers a sentence asserts: "one" is too often a pronoun to count."""
    return frozenset(n for n in numbers(text) if n != "1" or re.search(r"\b1\b", text))


def _plain_number(text: str) -> str:
    text = text.replace("−", "-").lstrip("-")
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        text = text.replace(",", "")
    text = text.replace(",", ".")
    if re.fullmatch(r"\d+\.\d+", text):
        text = text.rstrip("0").rstrip(".")
    return text


@lru_cache(maxsize=8192)
def names(text: str) -> frozenset[str]:
    """Stems of proper names and identifiers: what must not be exchanged for another."""
    found: set[str] = set()
    for code in _CODE.findall(text):
        found.update(words(code))
    bare = _CODE.sub(" ", text)
    for match in (*_IDENTIFIER.findall(bare), *_CAPITALISED.findall(bare)):
        found.update(words(match))
    return frozenset(
        stem(word) for word in found if word not in STOP_WORDS and len(word) > 1 and word != "i"
    )


def is_negated(text: str) -> bool:
    """Whether the sentence denies something."""
    return bool(re.search(r"n['’]t\b", text, re.IGNORECASE)) or any(
        word in _NEGATIONS for word in words(text)
    )


def contradicts(sentence: str, evidence: str) -> bool:
    """Whether the sentence has one side of a pair of opposites and the evidence only the other."""
    said, proven = frozenset(words(sentence)), frozenset(words(evidence))
    for one, other in _OPPOSITES:
        for mine, theirs in ((one, other), (other, one)):
            if said & mine and not said & theirs and proven & theirs and not proven & mine:
                return True
    return False


def coverage(wanted: Iterable[str], held: frozenset[str], heavy: frozenset[str]) -> float:
    """Share of the wanted stems that are held, names and numbers counting double."""
    total = got = 0.0
    for word in wanted:
        weight = 2.0 if word in heavy or word.isdigit() else 1.0
        total += weight
        got += weight if word in held else 0.0
    return got / total if total else 1.0
