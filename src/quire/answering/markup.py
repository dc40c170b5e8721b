"""Markdown seen as plain words, and characters that no reader can see."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from quire.ingestion.inline import words

_LINE_MARK: Final = re.compile(r"\A[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+\[[ xX]\])?[ \t]+")
_QUOTE_MARK: Final = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_HEADING: Final = re.compile(r"^[ \t]*#{1,6}[ \t]+", re.MULTILINE)

_JOINERS: Final = "\u200c\u200d"


@lru_cache(maxsize=8192)
def plain(markdown: str) -> str:
    """The words of a Markdown slice without its markup, on one line."""
    text = _HEADING.sub("", _QUOTE_MARK.sub("", markdown))
    return words(_LINE_MARK.sub("", text))


def is_invisible(text: str, index: int) -> bool:
    """Whether the character there is a control, format or tag character nobody can see.

    Tabs and newlines are layout. A joiner between letters of a script that needs it
    (Arabic, Indic, emoji) is spelling; anywhere else it is hidden text.
    """
    char = text[index]
    if char in "\n\t" or (char == "\r" and text[index + 1 : index + 2] == "\n"):
        return False
    if char in _JOINERS:
        around = text[max(0, index - 1) : index] + text[index + 1 : index + 2]
        return len(around) < 2 or any(c.isascii() or c.isspace() for c in around)
    if char in "\ufe0e\ufe0f":
        return False
    if 0xE0000 <= ord(char) <= 0xE0FFF or 0xFE00 <= ord(char) <= 0xFE0D:
        return True
    return char in "\u2028\u2029\u115f\u1160\u3164\uffa0\u034f" or unicodedata.category(char) in (
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Cn",
    )


def has_invisible(text: str) -> bool:
    """Whether any character is invisible (see `is_invisible`)."""
    if text.isascii() and text.isprintable():
        return False
    return any(is_invisible(text, i) for i in range(len(text)))


_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def visible(text: str) -> str:
    """The text without invisible characters and terminal sequences, all line ends alike."""
    if text.isascii() and text.isprintable():
        return text
    text = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for i, char in enumerate(text) if not is_invisible(text, i))
