"""The refusal, the disclaimer and the question back: what is said when the book doesn't say."""

from __future__ import annotations

from collections.abc import Sequence

from quire.answering import markup
from quire.answering.question import Limits
from quire.models import Confidence, Passage, RefusalReason, Suggestion

DISCLAIMER = "The book only touches on this; the closest it says:"
UNSAFE = "I can only answer questions about what the book says."
SELECTION = (
    "The selected text doesn't answer that. You can ask the whole book instead, "
    "without the selection."
)
_MAX_SUGGESTIONS = 3


def reason_for(
    confidence: Confidence, passages: Sequence[Passage], limits: Limits
) -> RefusalReason:
    """Why the passages found can't carry an answer."""
    if not passages:
        return "no_passages"
    if confidence.max_similarity < limits.off_topic_similarity:
        return "off_topic"
    return "low_confidence"


def suggestions(passages: Sequence[Passage], reason: RefusalReason) -> tuple[Suggestion, ...]:
    """The nearest distinct sections of the book, best first; none for an unsafe request."""
    if reason == "unsafe_request":
        return ()
    found: dict[str, Suggestion] = {}
    for passage in passages:
        chunk = passage.chunk
        title = _clean(chunk.section_title or chunk.page_title)
        page = _clean(chunk.page_title)
        if page and page.lower() not in title.lower():
            title = f"{page} › {title}"
        found.setdefault(title.lower(), Suggestion(title=title, source_url=chunk.source_url))
    return tuple(found.values())[:_MAX_SUGGESTIONS]


def text_for(reason: RefusalReason, nearby: Sequence[Suggestion]) -> str:
    """The refusal in one calm sentence, and what the book does cover."""
    if reason == "unsafe_request":
        return UNSAFE
    sentence = "The book doesn't answer that."
    if reason == "unsupported_draft":
        sentence = "The book has related pages, but nothing in them that proves an answer."
    if not nearby:
        return sentence
    titles = "; ".join(suggestion.title for suggestion in nearby)
    return f"{sentence} It does cover: {titles}{'' if titles.endswith(('?', '!')) else '.'}"


def unanswered(words: str) -> str:
    """What is said of the part of a question that the book doesn't answer."""
    return f"The book doesn't answer this part: {words}"


def _clean(text: str) -> str:
    return markup.plain(markup.visible(text)).strip(" .;")
