"""A request as the question that it means: questions are what the reader learned from."""

from __future__ import annotations

import re
from typing import Final

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


def _open(text: str) -> str:
    return text.rstrip(" \t\n.?!")
