"""The draft contract: what a model writes, read tolerantly, whole or as it arrives.

    {"segments": [{"text": "One sentence.", "passages": [1, 3]}, …]}

A model that writes prose instead is read as one segment whose `[n]` marks name passages. Our own
extractive model adds `"unanswered": [2]` where it found no answer to that part of the question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A few words of a draft and the passages they claim to rest on."""

    text: str
    passages: tuple[int, ...] = ()
    highlight: str | None = None
    """The exact answer inside the text, where the model knows it."""


_THINKING: Final = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_TRAILING_COMMA: Final = re.compile(r",\s*([}\]])")
_TEXT_FIELD: Final = re.compile(r'"(?:text|sentence|content)"\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NUMBERS_FIELD: Final = re.compile(r'"(?:passages|citations|sources)"\s*:\s*\[([^\]]*)\]')
_UNANSWERED: Final = re.compile(r'\s*\]\s*,\s*"unanswered"\s*:\s*\[([\d\s,]*)\]')
_LOOKS_JSON: Final = re.compile(r"\s*(?:```(?:json)?\s*)?[{\[]")
_START: Final = re.compile(r'"segments"\s*:\s*\[|\A\s*(?:```(?:json)?\s*)?\[')
_TEXT_KEYS: Final = ("text", "sentence", "content")
_NUMBER_KEYS: Final = ("passages", "passage", "citations", "sources")


class DraftStream:
    """Reads a draft as it arrives; `feed` returns segments as soon as each is complete."""

    def __init__(self) -> None:
        self._text = ""
        self._at: int | None = None
        """Where to look for the next segment, once the list has begun."""
        self.count = 0

    @property
    def text(self) -> str:
        """Everything fed so far."""
        return self._text

    def feed(self, delta: str) -> list[Segment]:
        """Add what arrived; the segments that it completed, in order."""
        self._text += delta
        if self._at is None:
            thought = _after_thinking(self._text)
            start = None if thought is None else _START.search(self._text[thought:])
            if thought is None or start is None:
                return []
            self._at = thought + start.end()
        return self._complete()

    def finish(self) -> list[Segment]:
        """What is left when nothing more will arrive; reads prose if there was no JSON."""
        found = self._complete() if self._at is not None else []
        if self.count:
            return found
        found = parse_draft(self._text)
        self.count = len(found)
        return found

    @property
    def unanswered(self) -> tuple[int, ...]:
        """The numbers of the question's parts that the draft has no answer to."""
        named = None if self._at is None else _UNANSWERED.match(self._text, self._at)
        return _numbers([named[1]]) if named else ()

    def _complete(self) -> list[Segment]:
        found: list[Segment] = []
        while self._at is not None:
            begin = self._text.find("{", self._at)
            between = self._text[self._at : begin if begin >= 0 else len(self._text)]
            if begin < 0 or "]" in between:
                break
            end = _object_end(self._text, begin)
            if end is None:
                break
            self._at = end
            segment = _segment(self._text[begin:end])
            if segment:
                self.count += 1
                found.append(segment)
        return found


def parse_draft(text: str) -> list[Segment]:
    """The segments of a whole draft; a cut-off last segment is left out. Never raises."""
    text = _THINKING.sub("", text).strip()
    start = _START.search(text)
    if start:
        stream = DraftStream()
        found = stream.feed(text)
        if found or re.search(r'"segments"\s*:\s*\[\s*\]', text):
            return found
    if _LOOKS_JSON.match(text):
        return _loose(text)
    return [Segment(text=text)] if text else []


def _after_thinking(text: str) -> int | None:
    """Where a reasoning block ends (0 without one); None while it is open."""
    if "<think" not in text:
        return 0
    end = re.search(r"</think(?:ing)?>", text)
    return end.end() if end else None


def _object_end(text: str, begin: int) -> int | None:
    """Where the JSON object that begins there ends; None while it is open."""
    depth, i = 0, begin
    in_string = False
    while i < len(text):
        char = text[i]
        if in_string:
            if char == "\\":
                i += 1
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return None


def _segment(source: str) -> Segment | None:
    value = _loads(source)
    if isinstance(value, Mapping):
        return _from_mapping(cast("Mapping[str, Any]", value))
    text = _TEXT_FIELD.search(source)
    if text is None:
        return None
    named = _NUMBERS_FIELD.search(source)
    words = _loads(f'"{text[1]}"')
    return Segment(
        text=words if isinstance(words, str) else text[1],
        passages=_numbers(re.findall(r"\d+", named[1]) if named else []),
    )


def _from_mapping(value: Mapping[str, Any]) -> Segment | None:
    text = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
    if not text or not str(text).strip():
        return None
    named = next((value[key] for key in _NUMBER_KEYS if key in value), None)
    highlight = value.get("highlight")
    return Segment(
        text=str(text),
        passages=_numbers(named),
        highlight=highlight if isinstance(highlight, str) and highlight else None,
    )


def _numbers(named: object) -> tuple[int, ...]:
    """Passage numbers in any spelling a model may choose: 1, "1", "[1]", 1.0."""
    items = cast("list[object]", named) if isinstance(named, list) else [named]
    found: list[int] = []
    for item in items:
        if isinstance(item, bool) or item is None:
            continue
        if isinstance(item, int | float) and abs(item) < 1e6:
            found.append(int(item))
        elif isinstance(item, str):
            found += [int(n) for n in re.findall(r"\d{1,6}", item)]
    return tuple(dict.fromkeys(found))


def _loose(text: str) -> list[Segment]:
    """JSON of another shape: one segment, `{"answer": "…"}`, or damaged beyond structure."""
    body = re.sub(r"\A```(?:json)?\s*|\s*```\s*\Z", "", text)
    value = _loads(body)
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        segment = _from_mapping(mapping)
        if segment:
            return [segment]
        for key in ("answer", "response", "output", "result"):
            if isinstance(mapping.get(key), str) and mapping[key].strip():
                return [Segment(text=mapping[key], passages=_numbers(mapping.get("sources")))]
        return []
    if isinstance(value, list):
        strings = [item for item in cast("list[object]", value) if isinstance(item, str)]
        return [Segment(text=item) for item in strings if item.strip()]
    found = [_segment("{" + match.group() + "}") for match in _TEXT_FIELD.finditer(text)]
    return [segment for segment in found if segment]


def _loads(source: str) -> object:
    """The JSON value, with raw newlines and trailing commas forgiven; None if it is none."""
    for candidate in (source, _TRAILING_COMMA.sub(r"\1", source)):
        try:
            return json.loads(candidate, strict=False)
        except (ValueError, RecursionError):
            continue
    return None
