"""Asking back: when a question names one thing and the book has several of that name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from quire.answering import definitions, lexicon, markup
from quire.models import Passage, Suggestion

_BARE: Final = re.compile(
    r"(?:(?:(?P<defined>what(?:'s| is| are)|define)|explain|tell me about|describe|show(?: me)?) )?"
    r"(?:(?:the|a|an|about) )?(?P<term>[\w-]+(?: [\w-]+)?) ?[?.!]*\Z",
    re.IGNORECASE,
)
_CLOSE: Final = 0.05
_MAX_WORDS: Final = 2


def choices(question: str, passages: Sequence[Passage]) -> tuple[Suggestion, ...]:
    """The sections a bare question may mean, if they are different things; else nothing.

    Deliberately rare: the question is a lone term, and at least two pages have a section of
    exactly that name with nearly the same score. Where one of them says what it is, that is the
    answer; "What is …?" is asked back only if two say so. Anything else is answered.
    """
    bare = _BARE.match(" ".join(question.split()))
    if bare is None:
        return ()
    term = lexicon.content_stems(bare["term"])
    if not term or len(term) > _MAX_WORDS:
        return ()
    named: dict[str, Passage] = {}
    for passage in passages:
        if lexicon.content_stems(passage.chunk.section_title or "") == term:
            named.setdefault(passage.chunk.source_file, passage)
    top = max((passage.score for passage in named.values()), default=0.0)
    close = [passage for passage in named.values() if passage.score >= top - _CLOSE]
    if len(close) < 2 or len({p.chunk.module for p in close}) < 2:
        return ()
    defining = sum(definitions.is_defined(p.chunk.markdown, p.chunk.opening, term) for p in close)
    if defining == 1 or (defining == 0 and bare["defined"]):
        return ()
    return tuple(
        Suggestion(
            title=f"{_clean(p.chunk.section_title or '')} in {_clean(p.chunk.page_title)}",
            source_url=p.chunk.source_url,
        )
        for p in close
    )


def text_for(question: str, found: Sequence[Suggestion]) -> str:
    """The question back, naming the choices."""
    names = [suggestion.title for suggestion in found]
    listed = f"{', '.join(names[:-1])} or {names[-1]}"
    return f"The book has more than one answer to that. Do you mean {listed}?"


def _clean(text: str) -> str:
    return markup.plain(markup.visible(text)).strip(" .;")
