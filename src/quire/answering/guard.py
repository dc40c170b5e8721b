"""What is checked before a question is answered, and text that gives orders instead of facts."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from quire.answering.question import Limits, Question
from quire.errors import InvalidRequest

_WHOSE: Final = (
    r"(?:(?:all|any|every|each|the|your|my|our|these|those|this|that|of|other|rest|above|below|previous|"
    r"prior|earlier|preceding|following|initial|original|system|existing|current|past|and|or)\s+){0,6}"
)
_RULES: Final = (
    r"(?:instructions?|prompts?|rules?|directions?|directives?|guidelines?|commands?|restrictions?|"
    r"polic(?:y|ies)|constraints?|programming|training|data|text|context|filters?|safeguards?)\b"
)

_OVERRIDE: Final = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass|violate|drop|skip)\b\s+{_WHOSE}{_RULES}",
    re.IGNORECASE,
)
_ASKS_HOW: Final = re.compile(
    r"\W*(?:how|what|where|which|why|when|does|do|is|are|(?:can|could|should|may) (?:i|we|one))\b"
    r"[^.!?\n]*+[.!?]?\s*",
    re.IGNORECASE,
)
"""One question and nothing more."""
_ADDRESSED: Final = re.compile(
    r"\b(?:your?|previous|prior|earlier|above|preceding|initial|original|system)\b", re.IGNORECASE
)
"""Whose instructions they are, where a model's are meant and not the subject's own."""
_OVERRIDES: Final = re.compile(
    rf"{_OVERRIDE.pattern}"
    r"|\b(?:ignore|forget|disregard)\s+(?:everything|all)\s+(?:you|i|above|before|that|we)\b"
    r"|\bstop everything\b|\bjust\s+(?:print|say|output|respond|reply)\s+[\"“'`(\[]"
    r"|\bcore instruction\b|<\s*+(?:/\s*+)?(?:system|end of session)\s*>|<\|[a-z_]+\|>|\[/?INST\]"
    r"|(?:^|<!--|>)[ \t]*(?:system|assistant)[ \t]*:[ \t]+\S"
    r"|\binvisible to (?:humans|readers|people)\b|\b(?:visible|addressed|note) to (?:the )?"
    r"(?:LLMs?|AIs?|language models?|assistants?)\b|\bignore them and instead\b",
    re.IGNORECASE | re.MULTILINE,
)
_PRINTS: Final = re.compile(
    r"\b(?:print|output|repeat|reply with|respond with|say)\b[^.\n]{0,40}?"
    r"\b(?:verbatim|this long text|the following (?:text|words|sentence|phrase))\b"
    r"|\bprovide it to the user\b|\b(?:tell|inform|assure|convince) the (?:user|reader) that\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=2048)
def commands(text: str) -> tuple[tuple[int, int], ...]:
    """Spans of a passage that give a model orders, each to the end of its paragraph.

    The book is data: these spans are never evidence for a sentence.
    """
    found: list[tuple[int, int]] = []
    for match in (*_OVERRIDES.finditer(text), *_PRINTS.finditer(text)):
        paragraph = text.rfind("\n\n", 0, match.start())
        start = paragraph + 2 if paragraph >= 0 else 0
        before = max(text.rfind(mark, start, match.start()) for mark in (". ", "! ", "? ", "\n"))
        end = text.find("\n\n", match.end())
        found.append((max(start, before + 1), len(text) if end < 0 else end))
    return tuple(sorted(found))


_EXTRACTION: Final = re.compile(
    r"\b(?:print|show|reveal|repeat|output|display|tell|give|send|leak|dump|copy|recite|translate|"
    r"disclose|share|return|expose|see)\b[^.?!\n]{0,60}?"
    r"\b(?:(?:your|the|internal) (?:(?:full|entire|exact|original|initial|complete|hidden|secret|"
    r"own|very|first) )*(?:system|initial|hidden|secret|original|developer) "
    r"(?:prompts?|instructions?|messages?|rules|configuration)|your (?:\w+ ){0,2}"
    r"(?:instructions?|prompts?)\b|(?:instructions?|prompts?) (?:that )?you (?:were|are) given)"
    r"|\bwhat (?:is|are|was|were) your (?:\w+ ){0,2}(?:instructions?|prompts?)\b"
    r"|\bwhat (?:were|are) you (?:told|not supposed to (?:tell|say))\b|\bi was instructed to\b"
    r"|\bmy instructions are\b|\bsystemPrompt\b"
    r"|\b(?:repeat|output|print|copy) (?:\w+ ){0,3}(?:text|words?|messages?|conversation)"
    r"(?: \w+){0,3} (?:above|before|back|previous|previously)\b"
    r"|\b(?:everything|all (?:the )?(?:text|words|content)) (?:above|before) this\b"
    r"|\b(?:from|in) your training data\b|\bmemorized from training\b"
    r"|\bwhat (?:did|does) the (?:system|developer) (?:prompt|message) say\b"
    r"|\b(?:first|last) \d+ words of your (?:prompt|instructions)\b",
    re.IGNORECASE,
)
_PERSONA: Final = re.compile(
    r"\b(?:do anything now|DAN mode|developer mode (?:enabled|on|output)|jailbr(?:eak|oken)|"
    r"unfiltered (?:and|AI|response|chatbot)|no (?:ethical|moral) (?:guidelines|restrictions|"
    r"limits|rules)|without any (?:restrictions?|filters?|censorship|limitations?)|"
    r"(?:evil|amoral|uncensored|unrestricted) (?:ai|assistant|chatbot|bot|confidant|model)|"
    r"(?:free|freed) (?:of|from) (?:all |any |the |your )?(?:restrictions|filters|limits|rules)|"
    r"you (?:have|are) (?:been )?(?:broken free|freed|no longer bound)|"
    r"(?:never|cannot|can't|don't) (?:refuse|say no|decline|reject)|stay in character|"
    r"(?:pretend|act|roleplay|role-play) (?:to be|as|like|as if)[^.\n]{0,80}"
    r"(?:no (?:rules|limits|restrictions|filter)|unrestricted|unfiltered|uncensored|evil|illegal))",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"^\W*(?:(?:hello|hi|hey|ok|okay|good|alright|dear|from now on|now)\b[^a-z0-9]*+)*"
    r"(?:(?:you are|you're|you will|you shall|i want you|i would like you|i need you|let's|"
    r"imagine you|pretend|act as|respond to|from now on|in this|this is|we are|chatgpt|gpt)\b)",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"<\s*(?:script|img|iframe|svg|object|embed|link|meta|body|form|input|a|style)\b"
    r"(?P<attributes>[^>]*+)(?P<end>>?)",
    re.IGNORECASE,
)
_ACTIVE: Final = re.compile(r"\bon\w+\s*=|javascript:|\b(?:src|href)\s*=", re.IGNORECASE)
_SCRIPT: Final = re.compile(
    r"\]\(\s*(?:javascript|data|vbscript):|document\.(?:cookie|location|write)|\beval\s*\(\s*atob",
    re.IGNORECASE,
)
_LONG_ORDER: Final = 700


def check(question: Question, limits: Limits) -> None:
    """Raise `InvalidRequest` for a question that can't be answered in any book."""
    text = question.text.strip()
    if not text:
        raise InvalidRequest("the question is empty", field="query")
    if len(question.text) > limits.max_question_chars:
        raise InvalidRequest(
            f"the question is longer than {limits.max_question_chars} characters",
            field="query",
            limit=limits.max_question_chars,
        )
    if not 1 <= question.top_k <= limits.max_top_k:
        raise InvalidRequest(f"top_k must be between 1 and {limits.max_top_k}", field="top_k")
    if question.score_threshold is not None and not 0.0 <= question.score_threshold <= 1.0:
        raise InvalidRequest("score_threshold must be between 0 and 1", field="score_threshold")
    if question.mode == "selected_text":
        if not (question.selected_text or "").strip():
            raise InvalidRequest("selected_text is required in this mode", field="selected_text")
        if len(question.selected_text or "") > limits.max_selection_chars:
            raise InvalidRequest(
                f"the selection is longer than {limits.max_selection_chars} characters",
                field="selected_text",
                limit=limits.max_selection_chars,
            )


def is_unsafe(text: str) -> bool:
    """Whether a "question" tries to steer the assistant instead of asking the book.

    Asking *about* prompts, rules or injection is fine ("how do I ignore a directory?"); giving
    orders that only make sense to a model is not.
    """
    asks = _ASKS_HOW.fullmatch(text) is not None
    if any(not (asks and _of_the_subject(found[0])) for found in _OVERRIDES.finditer(text)):
        return True
    if _EXTRACTION.search(text) or _is_live(text):
        return True
    personas = len(_PERSONA.findall(text))
    return personas >= 2 or bool(personas and (_OPENING.search(text) or len(text) > _LONG_ORDER))


def _of_the_subject(order: str) -> bool:
    """Whether these may be the rules or prompts of a program, and not a model's own."""
    return _OVERRIDE.fullmatch(order) is not None and _ADDRESSED.search(order) is None


def _is_live(text: str) -> bool:
    """Whether a browser would do something with it."""
    tags = (tag["end"] or _ACTIVE.search(tag["attributes"]) for tag in _TAG.finditer(text))
    return any(tags) or bool(_SCRIPT.search(text))
