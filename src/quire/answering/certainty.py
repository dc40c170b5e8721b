"""The confidence where the code knows more than what was fitted to labelled questions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from quire.models import Confidence

_LOW: Final = 0.5
_MEDIUM: Final = 0.7
_NONE: Final = 0.1


def at_most_low(confidence: Confidence) -> Confidence:
    """What is found may be of use, but isn't quite what was asked for."""
    if confidence.level not in ("medium", "high"):
        return confidence
    return replace(confidence, level="low", probability=min(confidence.probability, _LOW))


def at_least_medium(confidence: Confidence) -> Confidence:
    """What is found stands where it is said, whatever a reader makes of it."""
    if confidence.level in ("medium", "high"):
        return confidence
    return replace(confidence, level="medium", probability=_MEDIUM, should_answer=True)


def refused(confidence: Confidence) -> Confidence:
    """What is found isn't what was asked for."""
    return replace(
        confidence,
        level="insufficient",
        probability=min(confidence.probability, _NONE),
        should_answer=False,
    )
