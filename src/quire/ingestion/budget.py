"""How many tokens a text has: a cheap estimate first, the embedder's own count near the limit.

Counting with a real tokenizer is slower than all the rest of splitting together. The estimate
was fitted to MiniLM's word pieces on prose, code and tables in English, Urdu, Chinese and
German; 99 % of the texts lie above .8 of their count, so only texts whose estimate comes near
the limit are counted. What slips through (dumps of hexadecimal ids: one chunk in thousands)
is a little over the window, and the embedder doesn't see its last words.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable

TARGET_TOKENS = 400
"""The size of a chunk, heading path included; less where the embedder sees less."""

_SPECIAL_TOKENS = 2
_FULL = 0.8
"""Share of the limit up to which the estimate is trusted; chunks are filled up to it."""

_LETTERS = string.ascii_letters.encode()
_CLASSES = bytes(
    ord("D")
    if 48 <= byte <= 57
    else ord("P")
    if chr(byte) in string.punctuation
    else ord("N")
    if byte >= 192  # the first byte of a character outside ASCII
    else ord(" ")
    for byte in range(256)
)
_ENGLISH = 0.165
_FOREIGN = 0.29
"""Tokens per letter: an English vocabulary cuts other languages into smaller pieces."""

_ATOM = re.compile(r"[A-Za-z]{1,7}|[0-9]{1,3}|[^\sA-Za-z0-9]")
_SAMPLE = (
    "The quick brown fox publishes sensor_msgs/Image messages on 3 topics; see `ros2 topic list`."
)
_ENGLISH_WORDS = (" the ", " of ", " and ", " to ", " is ")
_FOREIGN_WORDS = (
    *(" der ", " die ", " und ", " ein ", " el ", " la ", " los ", " de ", " le ", " les "),
    *(" et ", " il ", " di ", " che ", " het ", " een ", " que ", " não ", " och ", " w ", " się "),
)


def estimate(text: str, per_letter: float = _ENGLISH) -> int:
    """About how many word pieces a text has; linear, and fast enough to call on everything."""
    data = text.encode()
    classes = data.translate(_CLASSES, _LETTERS)  # of all but the letters
    letters = len(data) - len(classes)
    digits = classes.count(b"D")
    marks = classes.count(b"P")
    others = 0 if text.isascii() else classes.count(b"N")
    blanks = len(classes) - digits - marks
    words = len(text.split()) if others or "  " in text else blanks + 1
    if letters > 11 * (words + marks):  # no language: base64, hexadecimal, key material
        per_letter = 0.5
    return int(letters * per_letter + digits * 0.5 + marks * 1.25 + others + words * 0.27 + 0.9)


def letters_weight(text: str, language: str) -> float:
    """Tokens per letter for a page, from its language and its commonest words."""
    if not language.lower().startswith("en"):
        return _FOREIGN
    sample = text[:6_000]
    english = 0
    for word in _ENGLISH_WORDS:
        english += sample.count(word)
        if english > 20:
            return _ENGLISH
    foreign = sum([sample.count(word) for word in _FOREIGN_WORDS])
    return _FOREIGN if foreign > 2 * english + 3 else _ENGLISH


class Budget:
    """The room of a chunk, for one embedder and one page."""

    def __init__(
        self,
        max_tokens: int,
        count_tokens: Callable[[str], int],
        per_letter: float = _ENGLISH,
    ) -> None:
        """`max_tokens` is the embedder's window, its special tokens included."""
        self.limit = max(24, min(TARGET_TOKENS, max_tokens - _SPECIAL_TOKENS))
        self.full = int(self.limit * _FULL)
        """Estimated tokens that a chunk is filled up to, and that need no count."""
        self._count = count_tokens
        self._counted: dict[str, int] = {}
        self._per_letter = per_letter
        ratio = count_tokens(_SAMPLE) / estimate(_SAMPLE)
        self._scale = ratio if ratio > 1.25 else 1.0

    def size(self, text: str) -> int:
        """The estimated tokens of a text."""
        size = estimate(text, self._per_letter)
        return size if self._scale == 1.0 else int(size * self._scale) + 1

    def fits(self, text: str, size: int) -> bool:
        """Whether a text is within the limit; counts only when the estimate can't tell."""
        if size <= self.full:
            return True
        known = self._counted.get(text)
        if known is None:
            known = self._counted[text] = self._count(text)
        return known <= self.limit

    def cut(self, text: str, size: int) -> str:
        """The longest beginning of a text, in whole words, that is within the limit."""
        if self.fits(text, size):
            return text
        ends = [found.end() for found in re.finditer(r"\S{1,40}", text)]
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high + 1) // 2
            if self._count(text[: ends[middle - 1]]) <= self.limit:
                low = middle
            else:
                high = middle - 1
        return text[: ends[low - 1]] if low else text[:1]

    def cut_ranges(self, text: str, start: int, end: int, room: int) -> list[tuple[int, int]]:
        """Ranges that tile `text[start:end]`, each of about `room` tokens at most.

        Cuts at white space where there is some in the second half of a range, else anywhere.
        """
        atoms = len(_ATOM.findall(text, start, end))
        room = max(8, room * atoms // max(1, self.size(text[start:end])))
        run = re.compile(rf"(?:\s*+(?:{_ATOM.pattern})){{1,{room}}}+")
        ranges: list[tuple[int, int]] = []
        while start < end:
            found = run.match(text, start, end)
            stop = found.end() if found else end
            if stop < end and not text[stop].isspace():
                middle = (start + stop) // 2
                blank = max(text.rfind(mark, middle, stop) for mark in " \n\t")
                stop = blank + 1 if blank > 0 else stop
            if _ATOM.search(text, stop, end) is None:
                stop = end
            ranges.append((start, stop))
            start = stop
        return ranges
