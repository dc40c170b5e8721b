"""Lists of changes: what a book says of its own past answers no question about its subject."""

from __future__ import annotations

import re
from typing import Final

from quire.models import Chunk

_ENTRY: Final = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?P<said>\S.*)$", re.MULTILINE)
_REFERENCE: Final = re.compile(
    r"(?<![\w&])#\d{1,6}\b|(?<![\w.])@[A-Za-z][\w-]+(?![\w/.])|\b(?=\w*\d)[0-9a-f]{7,40}\b"
)
"""To what changed something: a request or a ticket, who wrote it, a commit."""
_ASKS: Final = re.compile(
    r"\b(?:change\w*|release\w*|versions?|new|news|add(?:s|ed)|fix(?:es|ed)?|remov\w+|deprecat\w+|"
    r"upgrad\w+|updat\w+|break(?:s|ing)?|broke|contribut\w+|pull requests?|prs?|commits?|bugs?|"
    r"issues?|when|who|since|still|anymore|longer)\b|\bv?\d+\.\d+|#\d",
    re.IGNORECASE,
)
_LOG: Final = re.compile(r"\b(?:change ?logs?|release notes|releases)\b", re.IGNORECASE)
_WHOLLY: Final = re.compile(
    r"(?:the )?(?:\S+ )?(?:change ?log|changes|release notes|release history|what['’]?s new|news)"
    r"(?: (?:in|for) .*)?",
    re.IGNORECASE,
)
"""What a page or its file is called that holds nothing else."""
_OF_A_VERSION: Final = re.compile(
    r"(?=.*\d\.\d).*\b(?:release notes|change ?log|what['’]?s new)\b.*", re.IGNORECASE
)
_VERSION: Final = re.compile(
    r"(?:\S+ ){0,2}v?\d+(?:\.\d+)+\S*(?: ?[-–—(,:].*)?|unreleased.*", re.IGNORECASE
)


def lists_changes(chunk: Chunk) -> bool:
    """Whether a chunk is mostly a list of what was changed, in which request, commit or version."""
    entries = [entry["said"] for entry in _ENTRY.finditer(chunk.markdown)]
    named = sum(bool(_REFERENCE.search(entry)) for entry in entries)
    if named >= (1 if _LOG.search(chunk.page_title) else 2) and 2 * named > len(entries):
        return True
    if _OF_A_VERSION.fullmatch(chunk.page_title):
        return True
    if not any(_VERSION.fullmatch(title) for title in chunk.section_path):
        return False
    stem = chunk.source_file.rpartition("/")[2].partition(".")[0]
    return any(_WHOLLY.fullmatch(re.sub("[-_ ]+", " ", name)) for name in (chunk.page_title, stem))


def asks_for_changes(question: str) -> bool:
    """Whether a list of changes may be the answer."""
    return bool(_ASKS.search(question))
