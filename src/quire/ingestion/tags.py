"""Finding where an HTML or JSX tag ends, in time linear in the text."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[<>\"'`{}]")
_MAX_TAG = 20_000


class TagScanner:
    """Scans tags of one text; gives up when the failures alone have cost twice its length."""

    def __init__(self, text: str, end: int | None = None) -> None:
        """Prepare for `text[:end]`."""
        self._text = text
        self._end = len(text) if end is None else end
        self._budget = 2 * self._end + 10_000

    def end_of_tag(self, start: int) -> int | None:
        """The offset of the `>` that closes the tag opened at `start`, or None.

        Quoted attributes and `{…}` expressions may hold `>`; a `<` outside them means that
        this was no tag.
        """
        if self._budget <= 0:
            return None
        limit = min(self._end, start + _MAX_TAG)
        found = self._close(start + 1, limit)
        if isinstance(found, int):
            return found
        self._budget -= found[0] - start
        return None

    def _close(self, at: int, limit: int) -> int | tuple[int]:
        """The offset of the `>`, or how far the scan came in vain."""
        text = self._text
        depth = 0
        unpaired = ""
        while True:
            found = _SPECIAL.search(text, at, limit)
            if found is None:
                return (limit,)
            at = found.end()
            char = found.group()
            if char == ">" and depth == 0:
                return found.start()
            if char == "<" and depth == 0:
                return (at,)
            if char == "{":
                depth += 1
            elif char == "}":
                depth = max(0, depth - 1)
            elif char in "\"'`" and char not in unpaired:
                if not depth and text[found.start() - 1] not in "= \t\n":
                    continue
                closing = text.find(char, at, limit)
                if closing < 0:
                    unpaired += char
                else:
                    at = closing + 1
