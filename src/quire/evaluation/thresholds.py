"""Limits for corpora that lie outside the repository: numbers in a file, data beside it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from quire.errors import InvalidRequest, NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One corpus, its questions, and the limits its measures must keep."""

    name: str
    kind: Literal["retrieval", "answers"]
    corpus: Path
    questions: Path
    limit: int | None
    match: Literal["page", "section", "passage"]
    minimum: Mapping[str, float]
    maximum: Mapping[str, float]

    @property
    def available(self) -> bool:
        """Whether the data is on this machine."""
        return self.corpus.exists() and self.questions.is_file()

    def problems(self, metrics: Mapping[str, float | int | None]) -> list[str]:
        """One line for every limit that is broken; a measure that is missing breaks it."""
        found: list[str] = []
        for limits, word in ((self.minimum, "below"), (self.maximum, "above")):
            for name, limit in limits.items():
                value = metrics.get(name)
                broken = value is None or (value < limit if word == "below" else value > limit)
                if broken:
                    shown = "missing" if value is None else f"{value:.3f}"
                    found.append(f"{self.name}: {name} is {shown}, {word} {limit:.3f}")
        return found


def read_checks(path: Path, *, data: Path) -> list[Check]:
    """The checks of a TOML file (`[[check]]`); paths are relative to the data folder."""
    if not path.is_file():
        raise NotFound(f"there is no file of thresholds '{path}'")
    try:
        rows = tomllib.loads(path.read_text(encoding="utf-8")).get("check", [])
        return [_check(cast(dict[str, Any], row), data) for row in rows]
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"{path}: {error}") from error
    except KeyError as error:
        raise InvalidRequest(f"{path}: a check lacks {error}") from error


def _check(row: dict[str, Any], data: Path) -> Check:
    if row["kind"] not in ("retrieval", "answers"):
        raise InvalidRequest(f"check '{row['name']}': kind must be retrieval or answers")
    return Check(
        name=row["name"],
        kind=row["kind"],
        corpus=data / row["corpus"],
        questions=data / row["questions"],
        limit=row.get("limit"),
        match=row.get("match", "page"),
        minimum=row.get("minimum", {}),
        maximum=row.get("maximum", {}),
    )
