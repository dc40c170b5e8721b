"""Questions a book should answer about itself, derived from its headings and definitions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from quire.evaluation.outline import OutlinedSection
from quire.ingestion.inline import heading_text
from quire.ingestion.pages import Page
from quire.ingestion.sentences import spans

_MIN_WORDS = 15
_MAX_PER_SECTION = 3

_GENERIC_WORDS = (
    "introduction overview summary conclusion next steps exercises exercise example examples "
    "notes note prerequisites references further reading see also try it yourself key takeaways "
    "recap what you learned learning objectives checklist resources faq index contents "
    "background usage details setup"
)
_GENERIC = frozenset(_GENERIC_WORDS.split())
_NUMBERING = re.compile(
    r"\A(?:(?:chapter|lesson|step|part|module|section)\s+)?[\d.]+[:.)]?\s+", re.I
)
_QUESTION = re.compile(r"\?\s*\Z")
_VERB = re.compile(
    r"\A(?:add|build|call|change|check|choose|configure|connect|create|debug|declare|define|deploy|"
    r"enable|find|fix|get|handle|install|launch|load|make|manage|measure|monitor|move|open|publish|"
    r"read|record|register|remove|replay|run|save|schedule|send|set|share|spawn|start|stop|store|"
    r"test|train|tune|update|use|validate|verify|write)\b",
    re.I,
)
_GERUND = re.compile(r"\A([a-z]{2,}ing)\b(?!\s+(?:is|are|was)\b)", re.I)
_DEFINITION = re.compile(
    r"\A(?:(?:A|An|The)\s+)?([A-Za-z][\w./ -]{1,48}?)\s+(?:is|are)\s+(?:a|an|the|one|any)\s+\w+"
)
_PRONOUN = re.compile(
    r"\A(?:it|this|that|these|those|there|here|they|we|you|he|she|what|which|who|one|each|every|"
    r"all|some|most|both|another|below|above|if|when|in|on|at|for|as|so|but|and|or)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class DerivedQuestion:
    """A question whose answer should stand in the section it was made from."""

    text: str
    section: OutlinedSection
    made_from: Literal["heading", "definition"]


def derive(page: Page, sections: list[OutlinedSection]) -> list[DerivedQuestion]:
    """The questions of one page; sections of a few words give none."""
    found: list[DerivedQuestion] = []
    for section in sections:
        body = page.source[section.start : section.end]
        if len(body.split()) < _MIN_WORDS:
            continue
        found.append(DerivedQuestion(heading_question(section), section, "heading"))
        asked = {found[-1].text.lower()}
        for term in definitions(body, mdx=page.format == "mdx")[:_MAX_PER_SECTION]:
            text = f"What is {term}?"
            if text.lower() not in asked:
                asked.add(text.lower())
                found.append(DerivedQuestion(text, section, "definition"))
    return found


def heading_question(section: OutlinedSection) -> str:
    """A heading as a reader would ask for it; one that says nothing brings its page along."""
    title = _NUMBERING.sub("", section.title).strip() or section.title
    if _QUESTION.search(title):
        return title
    words = {word.strip(".:,").lower() for word in title.split()}
    if words <= _GENERIC:
        return f"{section.page_title}: {title}"
    if title.lower().startswith("how to "):
        return f"How do I {title[7:]}?"
    if _VERB.match(title):
        return f"How do I {_lower_first(title)}?"
    if _GERUND.match(title):
        return f"How does {_lower_first(title)} work?"
    return f"What is {title}?" if len(title.split()) <= 3 else title


def definitions(text: str, *, mdx: bool = False) -> list[str]:
    """The terms that sentences of a Markdown text define: `X is a …` at a sentence's start."""
    terms: list[str] = []
    for span in spans(text, mdx=mdx):
        if span.kind != "sentence":
            continue
        sentence = heading_text(" ".join(text[span.start : span.end].split()))
        match = _DEFINITION.match(sentence)
        if match and not _PRONOUN.match(match.group(1)) and len(match.group(1).split()) <= 5:
            terms.append(match.group(1))
    return list(dict.fromkeys(terms))


def _lower_first(text: str) -> str:
    first, _, rest = text.partition(" ")
    return f"{first.lower()} {rest}".strip() if first[1:].islower() else text
