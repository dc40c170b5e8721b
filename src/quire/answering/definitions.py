"""Which sentences say what a thing is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from quire.answering import lexicon
from quire.answering.quotable import Unit, units

ANNOUNCES: Final = re.compile(
    r"\b(?:in this (?:chapter|lesson|section|module|tutorial|guide|part|page|course)|"
    r"by the end\b|welcome to|you(?:'ll| will) (?:learn|write|create|build|understand|be able|"
    r"have|see|explore|discover|need to know)|"
    r"we(?:'ll| will) (?:also |just |now |next )?(?:learn|see|explore|look|cover|talk|discuss|"
    r"examine|return)|"
    r"until now|so far|you(?:'ve| have) (?:explored|seen|learned)|before you can|"
    r"now that (?:we|you)|the next (?:chapter|lesson|section)|(?:previous|last) (?:chapter|lesson)|"
    r"let's|"
    r"(?:this|the) (?:chapter|lesson|section|page|document|guide|article|reference) "
    r"(?:explains|shows|covers|explores|describes|documents|lists))\b",
    re.IGNORECASE,
)
"""How a book speaks of what it will do, instead of its subject."""
_VERB: Final = re.compile(
    r"\s*(?:\([^)]*\)\s*)?"
    r"(?:\b(?:is|are|was|means|refers to|stands for|describes|represents?)\b|—|–|:)\s"
)
_OF_A_KIND: Final = re.compile(
    r"\s*(?:\([^)]{0,200}\)\s*)?\b(?:is|are)\s+(?:an?|the|one of)\s", re.IGNORECASE
)
_NO_HEAD: Final = re.compile(r"\W*(?:(?:no|yes|in|on|for|with)\b|.*\bthere\Z)", re.IGNORECASE)
"""What stands before "is a" where the thing itself isn't said to be one."""
_TELLS_NO_KIND: Final = re.compile(
    r"(?:different|similar|not|useful|helpful|available|possible|necessary|important|easy|also|only|"
    r"just|already|being|often|usually|always|sometimes|mostly|the same|written|made|built|run|set|"
    r"shown|given|found|sent|kept|(?!called)\w+ed\b(?! as\b))\b",
    re.IGNORECASE,
)
"""What stands behind "is" where nothing is said of what the thing is."""
_LONGEST_HEAD: Final = 12
_CLAUSE: Final = re.compile(
    r"\b(?:that|which|who|whose|what|how|why|when|where|if|above|below)\b", re.IGNORECASE
)
_PLACE: Final = re.compile(r"^(?:in|on|for|with|at|by|from|within|unlike|like|here)\b[^,]*,", re.I)
_BESIDE: Final = re.compile(r"\([^)]*\)")
_OTHER_NAME: Final = re.compile(r",|\bor\b|\bcalled\b|\bnamed\b", re.IGNORECASE)
_TWO_NAMES: Final = re.compile(r"(?:an?|the)\s(?:[\w-]+\s){0,3}[\w-]+,?\sor\s[^,]*,?\s*\Z", re.I)
_OF_SOMETHING: Final = re.compile(r"(?<=the )(.*?)\s(?:of|for|in|on)\s.*", re.I | re.DOTALL)
_KINDS: Final = lexicon.content_stems(
    "attribute class command component enum file flag framework function hook keyword library "
    "macro method module operator package parameter plugin program protocol service struct system "
    "tool trait type utility"
)
"""What may be said with a name or left out: "the `unwrap` method"."""
_EMPHASISED: Final = re.compile(
    r"(?<![\w*])(?P<mark>\*{1,3}|_{1,3})(?P<words>[^*_\n]{2,60})(?P=mark)(?![\w*])"
)
"""What a book sets apart where it first says what it is."""
_NAMES_IT: Final = re.compile(
    r"(?:\A\W*(?:an?|the)?|\bcall(?:s|ed)?\b(?:\s+\w+){0,3}|\b(?:is|are|named|known as|means|term)"
    r"(?:\s+(?:an?|the))?)\s*\Z",
    re.IGNORECASE,
)
"""What stands before a name that is given: nothing, "is called a", "we call it the"."""
_SAYS_MORE: Final = re.compile(
    r"\s*(?:,\s*(?:or|which|an?|the)\b|\(|(?:is|are|means|refers)\b)", re.IGNORECASE
)
_SPELLED: Final = re.compile(
    r"(?<![\w-])(?P<before>(?:\w[\w-]{0,40}\s){1,6})\((?P<inside>[^()]{2,60})\)"
)


def is_defined(source: str, opening: str, subject: frozenset[str]) -> bool:
    """Whether a slice of Markdown says what the subject is; `opening` as in `quotable.units`."""
    found = units(source, opening) if _may_name(source, subject) else ()
    return any(defines(source, unit, subject) for unit in found)


def is_said_outright(source: str, opening: str, subject: frozenset[str]) -> bool:
    """Whether one sentence begins with the subject alone and says of what kind it is."""
    found = units(source, opening) if _may_name(source, subject) else ()
    return any(
        unit.kind not in ("code", "table") and _names_kind(unit.plain, subject) for unit in found
    )


def defines(source: str, unit: Unit, subject: frozenset[str]) -> bool:
    """Whether a unit of the source says what the subject is, or what its letters stand for."""
    if unit.kind in ("code", "table") or not _may_name(unit.plain, subject):
        return False
    text = unit.plain.replace("’", "'")
    if ANNOUNCES.search(text):
        return False
    return (
        _says_what(text, subject)
        or _sets_apart(source, unit, subject)
        or any(
            _stands_for(found["before"], found["inside"], subject)
            for found in _SPELLED.finditer(text)
        )
    )


def is_named(subject: frozenset[str], chosen: Iterable[str], found: Sequence[str]) -> bool:
    """Whether one of the chosen texts has all words of the subject.

    What a topic is doesn't say what a Kafka topic is. Words that most of the texts found have are
    what all the book is about, and may be left out.
    """
    if len(subject) <= 1:
        return True
    said = Counter(stem for text in found for stem in lexicon.held(subject, text))
    telling = frozenset(stem for stem in subject if said[stem] * 2 <= len(found))
    return any(telling <= lexicon.held(telling, text) for text in chosen)


def _may_name(text: str, subject: frozenset[str]) -> bool:
    """Whether a text can hold every word of the subject; quick, and hardly ever wrongly no."""
    low = text.lower()
    return bool(subject) and all(stem[: max(2, len(stem) - 1)] in low for stem in subject)


def _says_what(text: str, subject: frozenset[str]) -> bool:
    """Whether the text begins with the subject alone, and goes on with what it is."""
    verb = _VERB.search(text)
    if verb is None or _TELLS_NO_KIND.match(text, verb.end()):
        return False
    head = _BESIDE.sub(" ", _PLACE.sub("", text[: verb.start()]))
    if len(head.split()) > _LONGEST_HEAD or _CLAUSE.search(head):
        return False
    if any(_is(name, subject) for name in _OTHER_NAME.split(head)):
        return True
    return bool(_TWO_NAMES.match(head)) and subject <= lexicon.content_stems(head)


def _names_kind(text: str, subject: frozenset[str]) -> bool:
    verb = _OF_A_KIND.search(text)
    if verb is None or ANNOUNCES.search(text.replace("’", "'")):
        return False
    head = text[: verb.start()]
    if len(head.split()) > _LONGEST_HEAD or _NO_HEAD.match(head):
        return False
    return lexicon.content_stems(head) == subject


def _is(name: str, subject: frozenset[str]) -> bool:
    stems = lexicon.content_stems(_OF_SOMETHING.sub(r"\1", name))
    return bool(stems) and (stems == subject or subject <= stems <= subject | _KINDS)


def _sets_apart(source: str, unit: Unit, subject: frozenset[str]) -> bool:
    """Whether the unit emphasises the subject as a name it gives, and nothing around it does."""
    named = [
        found
        for found in _EMPHASISED.finditer(source)
        if lexicon.content_stems(found["words"]) == subject
    ]
    if len(named) != 1 or not unit.start <= named[0].start() < unit.end:
        return False
    before, after = source[unit.start : named[0].start()], source[named[0].end() : unit.end]
    return bool(_NAMES_IT.search(before) or _SAYS_MORE.match(after))


def _stands_for(before: str, inside: str, subject: frozenset[str]) -> bool:
    """Whether one of the two is the letters of the other, and one of them is asked for."""
    for letters, words in ((inside.strip(), before.split()), (before.split()[-1], inside.split())):
        initials = "".join(word[0] for word in words[-len(letters) :])
        if len(letters) > 1 and initials.lower() == letters.lower():
            spelled = lexicon.content_stems(" ".join(words[-len(letters) :]))
            return subject in (lexicon.content_stems(letters), spelled)
    return False
