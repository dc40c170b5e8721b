"""What is said to the assistant and asks the book nothing: a greeting, thanks, "who are you?"."""

from __future__ import annotations

import re
from typing import Final

from quire.answering import markup

_END: Final = r"[\s.!?,;:)(\-–—…☺🙂👋👍🙏😊❤️]*"
_NAME: Final = r"(?:\s+(?:there|all|everyone|again|quire|bot|assistant|friend|you|to you))?"
_GREETING: Final = (
    rf"(?:hi|hello|hey|hiya|howdy|greetings|good\s+(?:morning|afternoon|evening|day)){_NAME}"
    r"(?:[\s,.!]+how\s+are\s+you(?:\s+(?:doing|today))*)?|how\s+are\s+you(?:\s+(?:doing|today))*"
)
_PRAISE: Final = (
    r"(?:that(?:'?s|\s+is)\s+|it(?:'?s|\s+is)\s+)?(?:(?:very|really|so|all)\s+)?"
    r"(?:ok(?:ay)?|great|perfect|awesome|cool|nice|good|excellent|super|wonderful|amazing|helpful|"
    r"alright|all\s+right|got\s+it|i\s+see|understood|makes\s+sense|clear|fine|well\s+done)"
)
_THANKS: Final = (
    r"(?:many\s+|a\s+lot\s+of\s+)?(?:thanks|thank\s*you|thx|thnx|ty|cheers)"
    r"(?:\s+(?:a\s+lot|so\s+much|very\s+much|again|a\s+bunch|you|for\s+(?:the|your|that|this)\s*\w*))*"
)
_PARTING: Final = (
    r"(?:(?:good)?bye(?:\s+bye)?|see\s+you(?:\s+(?:later|soon))?|farewell|good\s+night)"
)
_SELF: Final = (
    r"who\s+are\s+you|what\s+are\s+you|what\s+can\s+(?:you|i)\s+(?:do|ask)(?:\s+(?:you|here|for\s+me))*|"
    r"what\s+do\s+you\s+(?:do|know)|how\s+(?:can|do)\s+you\s+(?:help(?:\s+me)?|work)|"
    r"(?:can|could)\s+you\s+help(?:\s+me)?|(?:please\s+)?help(?:\s+me)?(?:\s+please)?|"
    r"how\s+does\s+this\s+(?:work|chat\s+work|bot\s+work)|what\s+should\s+i\s+ask(?:\s+you)?|"
    r"are\s+you\s+(?:an?\s+)?(?:bot|robot|ai|human|person|real|chatgpt|gpt|machine)"
)


def _said(*forms: str) -> re.Pattern[str]:
    every = "|".join(forms)
    return re.compile(rf"{_END}(?:(?:{every}){_END})+", re.IGNORECASE)


_HELLO: Final = _said(_GREETING)
_HELPED: Final = _said(_THANKS, _PRAISE)
_LEAVES: Final = _said(_THANKS, _PRAISE, _PARTING)
_ASKS_SELF: Final = _said(_GREETING, _SELF)
_THANKED: Final = re.compile(rf"\b(?:{_THANKS})\b", re.IGNORECASE)
_LONGEST: Final = 80


def reply_to(text: str, book_title: str) -> str | None:
    """What is said back, as a question; None if the book is asked something."""
    plain = " ".join(text.replace("’", "'").split())
    if len(plain) > _LONGEST:
        return None
    title = markup.plain(markup.visible(book_title)).strip() or "the book"
    if _HELLO.fullmatch(plain):
        return f"Hello. What would you like to know about {title}?"
    if _ASKS_SELF.fullmatch(plain):
        return (
            f"I answer questions about {title} from its pages only, and quote what proves each "
            "sentence. What would you like to know?"
        )
    if _HELPED.fullmatch(plain):
        opening = "You're welcome. " if _THANKED.search(plain) else ""
        return f"{opening}What else would you like to know?"
    return "Goodbye. Is there anything else?" if _LEAVES.fullmatch(plain) else None
