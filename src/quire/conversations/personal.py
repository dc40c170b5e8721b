"""Personal data that has a form: addresses, numbers and codes a rule can tell from prose.

Names, streets and the like have no form and stay; docs/trust.md says how much is found.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

Kind = Literal["email", "iban", "card", "ssn", "ip", "phone"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Where something personal stands in a text."""

    kind: Kind
    start: int
    end: int


def redact(text: str) -> str:
    """The text with every finding replaced by its kind, as in `[email]`."""
    parts: list[str] = []
    end = 0
    for found in find(text):
        parts += (text[end : found.start], f"[{found.kind}]")
        end = found.end
    return "".join((*parts, text[end:]))


def find(text: str) -> list[Finding]:
    """What is personal in a text; no two findings overlap."""
    findings: list[Finding] = []
    taken = bytearray(len(text))
    for kind, pattern, is_one in _RULES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if not any(taken[start:end]) and is_one(match.group()):
                taken[start:end] = b"\1" * (end - start)
                findings.append(Finding(kind, start, end))
    return sorted(findings, key=lambda finding: finding.start)


def is_iban(text: str) -> bool:
    """Whether the check digits are right (ISO 13616)."""
    code = re.sub(r"[ -]", "", text).upper()
    if not 15 <= len(code) <= 34:
        return False
    return int("".join(str(int(letter, 36)) for letter in code[4:] + code[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Whether the last digit is the one of Luhn's formula."""
    digits = [int(letter) for letter in text if letter.isdecimal()]
    if not 12 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[-1::-2])) % 10 == 0


def is_ssn(text: str) -> bool:
    """Whether no part is one that is never given out."""
    area, group, serial = re.split(r"[- ]", text)
    return area not in ("000", "666") and group != "00" and serial != "0000"


def is_ip(text: str) -> bool:
    """Whether it is an address on the internet; those of private networks name nobody."""
    try:
        return ipaddress.ip_address(text).is_global
    except ValueError:
        return False


def is_phone(text: str) -> bool:
    """Whether it has as many digits as a number that can be dialled, and isn't a date."""
    digits = sum(letter.isdecimal() for letter in text)
    dated = re.match(
        r"(?:19|20)\d\d[-./ ][01]?\d[-./ ][0-3]?\d\b|[0-3]?\d[-./ ][0-3]?\d[-./ ](?:19|20)\d\d\b",
        text,
    )
    return 7 <= digits <= 15 and not dated


def _always(_: str) -> bool:
    return True


def _pattern(text: str) -> re.Pattern[str]:
    """The pattern where no letter or digit stands before or after it."""
    return re.compile(rf"(?<![\w.+-]){text}(?!\w)(?!\.\d)", re.IGNORECASE)


_PHONE: Final = "|".join(
    (
        # +44 20 7946 0958, +1 (541) 714-1388
        r"\+\d{1,3}[ .-]?(?:\(\d{1,5}\)[ .-]?)?\d{1,6}(?:[ .-]?\d{2,6}){1,4}(?: ?x\d{1,6})?",
        # (541) 714-1388
        r"\(\d{2,5}\)[ .-]?\d{2,5}(?:[ .-]\d{2,5}){0,3}(?: ?x\d{1,6})?",
        # 541-714-1388, 60 56 85 91
        r"\d{1,5}(?:[ .-]\d{2,5}){2,5}(?: ?x\d{1,6})?",
        # 0341 8387176
        r"0\d{1,5}[ -]\d{4,8}",
        # 714-1388
        r"\d{3}-\d{4}",
        # 0341838717 and ten digits that are no time of a clock in seconds
        r"0\d{8,10}|[2-9]\d{9}",
    )
)

_RULES: Final[tuple[tuple[Kind, re.Pattern[str], Callable[[str], bool]], ...]] = (
    (
        "email",
        re.compile(r"(?<![\w.+-])[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}"),
        _always,
    ),
    ("iban", _pattern(r"[a-z]{2}\d{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,3})?"), is_iban),
    ("ssn", _pattern(r"\d{3}[- ]\d{2}[- ]\d{4}"), is_ssn),
    ("card", _pattern(r"\d(?:[ -]?\d){11,18}"), is_card),
    ("ip", _pattern(r"\d{1,3}(?:\.\d{1,3}){3}"), is_ip),
    ("ip", _pattern(r"[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}"), is_ip),
    ("phone", re.compile(rf"(?<![\w.@/-])(?:{_PHONE})(?![\w-])(?!\.\d)"), is_phone),
)


def redact_all(value: Any) -> Any:
    """A plain JSON value with every text in it redacted."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: redact_all(item) for key, item in fields.items()}
    if isinstance(value, list | tuple):
        return [redact_all(item) for item in cast("Sequence[Any]", value)]
    return value
