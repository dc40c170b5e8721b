"""What a thread is about, in one short line for lists of conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from quire.answering import lexicon, markup
from quire.answering.followups import phrases_of
from quire.models import Message

MAX_CHARS = 200
_MAX_TOPICS = 6


def topic_summary(messages: Sequence[Message]) -> str:
    """The topics the reader asked about, most asked first; at most 200 characters.

    Deterministic, and empty only if nothing was asked: `Discussion about A, B and C`.
    """
    asked = [markup.visible(m.content) for m in messages if m.role == "user"]
    counted: Counter[frozenset[str]] = Counter()
    spelled: dict[frozenset[str], str] = {}
    for text in asked:
        for phrase in dict.fromkeys(phrases_of(text)):
            stems = lexicon.content_stems(phrase)
            if stems:
                counted[stems] += 1
                spelled.setdefault(stems, phrase)
    if not counted:
        return " ".join(" ".join(asked[:1]).split())[:MAX_CHARS]
    order = sorted(counted, key=lambda stems: (-counted[stems], list(counted).index(stems)))
    names = [spelled[stems] for stems in order][:_MAX_TOPICS]
    while len(_sentence(names)) > MAX_CHARS and len(names) > 1:
        names.pop()
    return _sentence(names)[:MAX_CHARS].rstrip()


def _sentence(names: Sequence[str]) -> str:
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"Discussion about {listed}"
