"""A question as the reader understands it best: requests asked, and in the number of the text."""

from __future__ import annotations

import re
from typing import Final

from quire.reading.port import Readable

_POLITE: Final = r"^\W*(?:(?:please|kindly|(?:can|could|would|will) you)\s+)*"
_TOLD: Final = re.compile(
    rf"{_POLITE}(?:tell me|show me|explain(?: to me)?|describe|"
    r"i(?: want| need| would like|['’]d like) to (?:know|understand|see))\s+"
    r"(?P<word>what|why|how|when|where|which|who)\s+(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LISTED: Final = re.compile(
    rf"{_POLITE}(?:list|enumerate|name|give me a list of)\s+(?:all\s+(?:of\s+)?)?"
    r"(?!of\s|an?\s|one\s|two\s|three\s|\S+\s+\S*ing\s)(?P<things>(?:the\s+)?\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_SEVERAL: Final = re.compile(
    r"^(?:the\s+)?(?:(?!(?:of|for|in|on|to|with|and)\s)[\w'-]+\s+){0,3}?[\w-]*(?-i:[a-rt-z])s(?![\w'])",
    re.IGNORECASE,
)
"""Whether the first noun is of many things."""
_ABOUT: Final = re.compile(
    rf"{_POLITE}(?:tell me (?:more |something )?about|describe|define|explain|"
    r"give me(?=\s+(?:the|an?)\s)(?!\s+an?\s+(?:example|list)\b))(?:\s+to me)?\s+"
    r"(?!(?:this|that|it|these|those|them)\b)(?P<thing>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)

_ONE: Final = re.compile(
    r"^\W*what(?: is|['’]s) an? (?P<before>(?:(?!(?:of|for|in|on|to|with|and|or)\s)[\w-]+\s+){0,3})"
    r"(?P<noun>[a-z]{3,})\W*$",
    re.IGNORECASE,
)


def as_question(text: str) -> str:
    """The same asked with a question word; a text that is no such request is left as it is."""
    if (told := _TOLD.match(text)) is not None:
        word, rest = told["word"].capitalize(), _open(told["rest"])
        if word == "How" and rest.startswith("to "):
            return f"How do I {rest[3:]}?"
        return f"{word} {rest}?"
    if (listed := _LISTED.match(text)) is not None and _SEVERAL.match(listed["things"]):
        return f"What are {_open(listed['things'])}?"
    if (about := _ABOUT.match(text)) is not None:
        verb = "are" if _SEVERAL.match(about["thing"]) else "is"
        return f"What {verb} {_open(about['thing'])}?"
    return text


def asked_of(question: str, readable: Readable) -> str:
    """What is asked of one text: of one that speaks of closures "What are closures?".

    The reader takes words as they stand: asked for a closure, it doubts such a text.
    """
    one = _ONE.match(question)
    if one is None:
        return question
    noun = one["noun"].lower()
    words = re.findall(r"\w+", f"{readable.headings} {readable.text}".lower())
    if words.count(_several(noun)) <= words.count(noun):
        return question
    return f"What are {one['before']}{_several(noun)}?"


def _several(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def _open(text: str) -> str:
    return text.rstrip(" \t\n.?!")
