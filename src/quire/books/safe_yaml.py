"""YAML for hostile input: values built from the event stream, with caps and no aliases or tags.

A few hundred bytes of aliases can expand to gigabytes in an ordinary loader. Here every event
is counted before anything is built, so memory stays proportional to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

MAX_DEPTH = 20
MAX_EVENTS = 20_000

_INTEGER = re.compile(r"[-+]?\d{1,18}\Z")
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d{1,3})?\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONSTANTS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


class YamlRefused(ValueError):
    """The text is no YAML we read; `line` is 0-based within the text."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        """Say what was refused and where."""
        super().__init__(reason)
        self.reason = reason
        self.line = line


def load(text: str, *, lenient: bool = False) -> Any:
    """The value of one YAML document: dict, list, str, int, float, bool or None.

    Scalars follow YAML 1.2 (dates stay strings, `yes` is a string), as site generators read
    them. `lenient` is for a site's own configuration: tags are ignored and an alias counts
    as None, where front matter is refused. Raises `YamlRefused`.
    """
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        next_event: Callable[[], Any] = loader(text).get_event
        return _document(iter(next_event, None), lenient=lenient)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = error.problem or error.context or "not valid YAML"
        raise YamlRefused(reason, mark.line if mark else None) from error
    except yaml.YAMLError as error:
        raise YamlRefused(str(error).splitlines()[0]) from error


def _document(events: Iterator[Any], *, lenient: bool) -> Any:
    from yaml import events as kinds

    root: list[Any] = []
    # open containers: (the list or dict, the key that waits for its value)
    stack: list[tuple[list[Any] | dict[str, Any], list[str]]] = [(root, [])]
    for count, event in enumerate(events):
        if count > MAX_EVENTS:
            raise YamlRefused(f"more than {MAX_EVENTS} YAML events", _line(event))
        kind: Any = event.__class__
        if kind is kinds.ScalarEvent:
            if not lenient:
                _check_node(event)
            _add(stack, _scalar(event), event, lenient)
        elif kind is kinds.SequenceStartEvent or kind is kinds.MappingStartEvent:
            if not lenient:
                _check_node(event)
            if len(stack) > MAX_DEPTH:
                raise YamlRefused(f"nested deeper than {MAX_DEPTH} levels", _line(event))
            value: list[Any] | dict[str, Any] = [] if kind is kinds.SequenceStartEvent else {}
            _add(stack, value, event, lenient)
            stack.append((value, []))
        elif kind is kinds.SequenceEndEvent or kind is kinds.MappingEndEvent:
            stack.pop()
        elif kind is kinds.AliasEvent:
            if not lenient:
                raise YamlRefused("aliases are not allowed", _line(event))
            _add(stack, None, event, lenient)
        elif kind is kinds.DocumentStartEvent and root:
            raise YamlRefused("more than one YAML document", _line(event))
    return root[0] if root else None


def _line(event: Any) -> int | None:
    return event.start_mark.line if event.start_mark else None


def _check_node(event: Any) -> None:
    if event.anchor is not None:
        raise YamlRefused("anchors are not allowed", _line(event))
    tag = event.tag
    if tag is not None and tag != "!":
        raise YamlRefused(f"tags are not allowed ({tag})", _line(event))


def _add(
    stack: list[tuple[list[Any] | dict[str, Any], list[str]]],
    value: Any,
    event: Any,
    lenient: bool,
) -> None:
    container, waiting = stack[-1]
    if isinstance(container, list):
        container.append(value)
    elif waiting:
        container[waiting.pop()] = value
    else:
        if isinstance(value, dict | list):
            raise YamlRefused("a key must be a plain value", _line(event))
        key = str(value)
        if key in container and not lenient:
            raise YamlRefused(f"the key '{key}' occurs twice", _line(event))
        waiting.append(key)


def _scalar(event: Any) -> Any:
    value: str = event.value
    if not event.implicit[0]:  # quoted or block scalar
        if not value.isascii() and _SURROGATE.search(value):
            raise YamlRefused("an escape that is no character", event.start_mark.line)
        return value
    if value in _CONSTANTS:
        return _CONSTANTS[value]
    first = value[0]
    if first.isdigit() or first in "+-.":
        if _INTEGER.match(value):
            return int(value)
        if _FLOAT.match(value) and len(value) < 40:
            return float(value)
    return value
