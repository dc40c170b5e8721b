"""From raw similarities to probabilities, fitted per embedder on labelled questions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files

FEATURES = ("top_score", "top_cosine", "coverage", "best_coverage")
"""What a retrieval says of itself."""
READ_FEATURES = ("doubt", "answerable")
"""With a reader: the log-odds of the retrieval alone where they are against it, and the reader's
own. A good match says little of whether the passages answer, a bad one that they don't."""


def sigmoid(x: float) -> float:
    """The logistic function, safe for any argument."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted logistic regression: bias plus one weight per named feature."""

    bias: float
    weights: Mapping[str, float]

    def log_odds(self, features: Mapping[str, float]) -> float:
        """The weighted sum of these features; absent ones count as zero."""
        return self.bias + sum(w * features.get(name, 0.0) for name, w in self.weights.items())

    def probability(self, features: Mapping[str, float]) -> float:
        """The calibrated probability for these features."""
        return sigmoid(self.log_odds(features))


def with_doubt(features: Mapping[str, float], answerability: Logistic) -> dict[str, float]:
    """The features, and the doubt that the retrieval alone leaves."""
    return {**features, "doubt": min(0.0, answerability.log_odds(features))}


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted for one embedder."""

    embedder: str
    relevance: Logistic
    """The `rank_score` of one passage → it is relevant."""
    answerability: Logistic
    """Features of a whole retrieval → its passages answer the question."""
    high: float
    medium: float
    low: float
    """Least probability of each level; below `low` the question is refused."""
    fitted_on: str = ""
    reading: Logistic | None = None
    """`answerability` with what a reader says of the passages; None if fitted without one."""

    def probability(self, features: Mapping[str, float]) -> float:
        """That the passages answer; a reader's word counts where there is one."""
        if self.reading is None or "answerable" not in features:
            return self.answerability.probability(features)
        return self.reading.probability(with_doubt(features, self.answerability))

    def to_json(self) -> str:
        """The file that ships with an embedder."""
        return json.dumps(asdict(self), indent=2, default=dict) + "\n"


def calibration_from_json(text: str) -> Calibration:
    """Read what `Calibration.to_json` wrote."""
    data = json.loads(text)
    return Calibration(
        embedder=data["embedder"],
        relevance=Logistic(**data["relevance"]),
        answerability=Logistic(**data["answerability"]),
        high=data["high"],
        medium=data["medium"],
        low=data["low"],
        fitted_on=data.get("fitted_on", ""),
        reading=Logistic(**data["reading"]) if data.get("reading") else None,
    )


def shipped_calibration(embedder: str) -> Calibration:
    """The calibration that ships with this embedder, or the general one."""
    folder = files("quire.retrieval") / "calibrations"
    for name in (embedder, "default"):
        file = folder / f"{name}.json"
        if file.is_file():
            return calibration_from_json(file.read_text(encoding="utf-8"))
    raise FileNotFoundError("calibrations/default.json is missing from the package")
