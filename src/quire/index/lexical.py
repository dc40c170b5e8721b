"""Text as BM25 terms: the analyzer and the sparse vectors, the same for documents and queries.

The document's vector holds the saturated term frequencies, the store multiplies by the IDF
of the book, so `Σ query · document · idf` is BM25 with a constant average length.

Terms, for `rclpy.create_publisher` → `rclpy`, `creat`, `publish`, `createpublisher`,
`rclpycreatepublisher`:

- a plain word: lower-case, accents folded, English stem; stop words are left out;
- several of an acronym (`GPUs`, `gpus`, `SDKs`): the acronym, which the stemmer leaves as it is;
- an identifier (camelCase, snake_case, dotted.name, --flag, a/path, ros2): the stems of its
  parts, each dotted segment as a whole and the whole, so that any spelling of it is found;
- a number or version (`42`, `3.11`, `1.20.0`): itself, and `1.20` of `1.20.0`;
- an operator of a programming language that stands by itself (`..=`, `=>`, `&&`): itself;
- Chinese, Japanese, Korean, Thai and the like: pairs of characters. Other scripts: words.

The stemmer is `py_rust_stemmers`: compiled, without dependencies, 60 times faster on words
seen for the first time than the pure Python `snowballstemmer`. That one is a later Snowball
and differs on 17 of 10,973 words of the Ray docs (`added`: here `ad`, there `add`).
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final

from quire.index.port import SparseVector

STOP_WORDS: Final = frozenset(
    """
    a about after all also am an and any are as at be because been before being but by can could
    did do does doing don't for from had has have having he her here him his how i i'm if in into
    is isn't it it's its just let's me more most my no nor not of on or other our out please s she
    should so some such t than that that's the their them then there these they this those to too
    us very was we were what what's when where which while who whom whose why will with would you
    your
    """.split()
)
MOST_PARTS: Final = 12
"""An identifier of more parts (a hash, a data URL) is a single term."""
LONGEST_TERM: Final = 64
FEW_TERMS: Final = 8
"""Terms of a question that may be about an operator."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
)
"""Scripts written without spaces (and Korean, whose endings hide the word)."""
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_NUMBER = re.compile(r"v?\d+(?:[.,]\d+)*", re.ASCII)
_PART = re.compile(r"[^\W\d_]+|\d+")
_CASES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s\b)")
_ACRONYMS = re.compile(r"[A-Z]{2,}s")
_FOLDED_ACRONYMS = re.compile(r"[b-df-hj-np-tv-xz]{2}(?:u|[b-df-hj-np-tv-xz]*[b-df-hj-np-rtv-xz])s")
"""Without a vowel but a last u: `gpus`, `llms`. Not `dns`, `css`, `menus`."""
_COMPOUND = re.compile(r"[\d_.@\\/:>+#-]")
_OPERATOR = (
    r"(?:\.\.=|(?<!\.)\.\.(?![./])|[=!]==?|[<>]=|<=>|=>|<-|(?<!-)->|:=|::|&&|\|\||\?\?|\?\.|"
    r"<<=?|>>=?|[-+*/%&|^]=|\|>|<>|~/|=~|!~)"
)
"""Of two characters or more, and never what Markdown or prose is written with."""
_OPERATORS = re.compile(_OPERATOR)
_JOINTS = re.compile(r"[\W_]+")
_KEPT_MARKS: Final = frozenset((0, 7, 9))
"""Combining classes that spell a word (vowel signs, nukta, virama); the others are accents."""


@dataclass(frozen=True, slots=True)
class Bm25:
    """Makes sparse vectors; the constants are part of the index and change only with it."""

    k1: float = 1.2
    b: float = 0.75
    average_length: float = 140.0
    """In terms, of a chunk of some 170 words."""

    def document(self, text: str) -> SparseVector:
        """The text's terms with their saturated frequencies."""
        counts, length = _count(text)
        norm = self.k1 * (1 - self.b + self.b * length / self.average_length)
        values = tuple(n * (self.k1 + 1) / (n + norm) for n in counts.values())
        return SparseVector(tuple(counts), values)

    def query(self, text: str) -> SparseVector:
        """The question's terms; one that is asked twice counts once, as in a short question."""
        counts, _ = _count(text)
        return SparseVector(tuple(counts), (1.0,) * len(counts))


def terms(text: str) -> list[str]:
    """The text's terms in order, repeated as they occur."""
    return [term for token in _tokens(text) for term in _analyze(token)]


def asked(question: str) -> tuple[str, ...]:
    """The question's terms, each once. In a long one operators belong to code that it quotes."""
    found = tuple(dict.fromkeys(terms(question)))
    if len(found) <= FEW_TERMS:
        return found
    return tuple(term for term in found if not _OPERATORS.fullmatch(term))


def term_id(term: str) -> int:
    """A stable 32-bit number; two of 50,000 terms share one with a chance of a quarter."""
    return zlib.crc32(term.encode())


def _count(text: str) -> tuple[Counter[int], int]:
    counts = Counter(chain.from_iterable(map(_ids, _tokens(text))))
    return counts, counts.total()


def _tokens(text: str) -> list[str]:
    if text.isascii():
        return _ascii_token().findall(text)
    return _token().findall(unicodedata.normalize("NFC", text).replace("’", "'"))


@lru_cache(maxsize=32768)
def _ids(token: str) -> tuple[int, ...]:
    return tuple(term_id(term) for term in _analyze(token))


@lru_cache(maxsize=32768)
def _analyze(token: str) -> tuple[str, ...]:
    """The terms of one token, each once (a token is one occurrence of each)."""
    if _OPERATORS.fullmatch(token):
        return (token,)
    if _UNSPACED_RUN.search(token):
        return tuple(_pairs(token))
    if _NUMBER.fullmatch(token):
        return tuple(_number(token.lstrip("v").replace(",", "")))
    if _COMPOUND.search(token) or _CASES.search(token):
        return tuple(_identifier(token))
    return tuple(_word(_fold(_singular(token))))


def _word(plain: str) -> list[str]:
    if plain in STOP_WORDS:
        return []
    stem = _stem(plain)[:LONGEST_TERM]
    return [stem] if stem else []


def _number(digits: str) -> list[str]:
    parts = digits.split(".")
    return [digits, ".".join(parts[:2])] if len(parts) > 2 else [digits]


def _identifier(token: str) -> list[str]:
    """Parts, segments and the whole: `a.b_c` → stems of a, b, c; `bc`; `abc`."""
    found: dict[str, None] = {}
    token = token.removesuffix("'s")
    segments = [part for part in re.split(r"[./:@\\]+", token) if part]
    for segment in segments:
        for piece in _JOINTS.split(_CASES.sub(" ", segment)):
            parts = _PART.findall(_fold(_singular(piece)))
            if len(parts) <= MOST_PARTS:
                for part in parts:
                    found.update(dict.fromkeys(_word(part)))
    if len(found) > MOST_PARTS:
        found.clear()
    wholes = [*segments, token] if len(segments) <= MOST_PARTS else [token]
    for whole in wholes:
        joined = _joined(whole)
        if joined and joined not in STOP_WORDS and _stem(joined) not in found:
            found[joined[:LONGEST_TERM]] = None
    return list(found)


def _joined(text: str) -> str:
    """Without what joins the parts, except where two numbers would run into one."""
    spaced = re.sub(r"(?<=\d)[\W_]+(?=\d)", "\0", text)
    sign = "++" if text.endswith("++") else "#" if text.endswith("#") else ""
    return _JOINTS.sub("", spaced.replace("\0", "0point0")).replace("0point0", ".").lower() + sign


def _pairs(token: str) -> list[str]:
    """Two by two where words aren't spaced; anything between is analysed by itself."""
    found: list[str] = []
    at = 0
    for run in _UNSPACED_RUN.finditer(token):
        if other := token[at : run.start()]:
            found += [term for word in _ascii_token().findall(other) for term in _analyze(word)]
        text = _fold(run[0])
        found += [text[i : i + 2] for i in range(len(text) - 1)] or [text]
        at = run.end()
    if other := token[at:]:
        found += [term for word in _ascii_token().findall(other) for term in _analyze(word)]
    return found


def _fold(text: str) -> str:
    """Lower-case without accents; signs that are part of a script's spelling stay."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold().replace("ـ", ""))
    kept = "".join(c for c in apart if unicodedata.combining(c) in _KEPT_MARKS)
    return unicodedata.normalize("NFC", kept)


def _singular(word: str) -> str:
    """One of several, if it is an acronym in capitals."""
    return word[:-1] if _ACRONYMS.fullmatch(word) else word


def _stem(word: str) -> str:
    return word[:-1] if _FOLDED_ACRONYMS.fullmatch(word) else _stemmer().stem_word(word)


@cache
def _stemmer() -> Any:
    import py_rust_stemmers

    stemmers: Any = py_rust_stemmers  # has no types
    return stemmers.SnowballStemmer("english")


@cache
def _ascii_token() -> re.Pattern[str]:
    return _pattern(r"[^\W_]")


@cache
def _token() -> re.Pattern[str]:
    """Letters and digits of any script; `re` doesn't count vowel signs as letters."""
    marks = "".join(
        re.escape(c) for c in map(chr, range(0x300, 0x20D0)) if unicodedata.category(c)[0] == "M"
    )
    return _pattern(rf"(?:[^\W_]|[{marks}])")


def _pattern(letter: str) -> re.Pattern[str]:
    """Names, joined by what joins the parts of names, paths and numbers; and lone operators."""
    joint = r"(?:[._'@\\/-]|::|->|__+|(?<=\d),(?=\d))"
    name = rf"{letter}+(?:{joint}{letter}+)*(?:\+\+|#(?!\w))?"
    other = r"[^\w\s`()\[\]{}|,;'\"]"
    operator = rf"(?=[=!<>.:&|?~^%*/+-])(?<!{other}){_OPERATOR}(?!{other})"
    return re.compile(rf"{name}|{operator}")
