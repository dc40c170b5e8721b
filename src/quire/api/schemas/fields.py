"""What several requests and responses share."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints

SNIPPET = 500
UUID_PATTERN = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"

FilterValue = str | int | list[str] | list[int]


def not_blank(text: str) -> str:
    """The text, unless there is nothing in it."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def unit(value: float) -> float:
    """A share or probability, in 0–1 and short."""
    return round(min(1.0, max(0.0, value)), 6)


Words = Annotated[str, AfterValidator(not_blank)]
BookId = Annotated[str, StringConstraints(min_length=1, max_length=200)]
SessionId = Annotated[str, StringConstraints(pattern=UUID_PATTERN)]


class Request(BaseModel):
    """A body: unknown fields are refused, so that a misspelt one is not silently ignored."""

    model_config = ConfigDict(extra="forbid")
