"""From raw similarities to probabilities, fitted per embedder on labelled questions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources import files

FEATURES = ("top_score", "top_cosine", "coverage", "best_coverage")


def sigmoid(x: float) -> float:
    """The logistic function, safe for any argument."""
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted logistic regression: bias plus one weight per named feature."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """The calibrated probability for these features; absent ones count as zero."""
        return sigmoid(
            self.bias + sum(w * features.get(name, 0.0) for name, w in self.weights.items())
        )


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
    )


def shipped_calibration(embedder: str) -> Calibration:
    """The calibration that ships with this embedder, or the general one."""
    folder = files("quire.retrieval") / "calibrations"
    for name in (embedder, "default"):
        file = folder / f"{name}.json"
        if file.is_file():
            return calibration_from_json(file.read_text(encoding="utf-8"))
    raise FileNotFoundError("calibrations/default.json is missing from the package")
