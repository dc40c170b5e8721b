"""Saved runs: what was measured, when, on what, and question by question how it went."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from quire.errors import InvalidRequest, NotFound
from quire.evaluation.answers import AnswersResult
from quire.evaluation.retrieval import RetrievalResult
from quire.evaluation.scratch import IndexedCorpus
from quire.evaluation.statistics import precision_recall, reliability
from quire.models import utc_now

Kind = Literal["retrieval", "answers"]
Number = float | int | None

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One evaluation as it is kept; questions are rows of plain values."""

    kind: Kind
    name: str
    created_at: str
    corpus: str
    questions_file: str
    settings: Mapping[str, Any]
    metrics: Mapping[str, Number]
    intervals: Mapping[str, tuple[float, float] | None]
    groups: Mapping[str, Mapping[str, Number]] = field(
        default_factory=dict[str, Mapping[str, Number]]
    )
    curves: Mapping[str, list[dict[str, float]]] = field(
        default_factory=dict[str, list[dict[str, float]]]
    )
    notes: tuple[str, ...] = ()
    questions: tuple[dict[str, Any], ...] = ()
    format: int = FORMAT

    def summary(self) -> dict[str, Any]:
        """What `--json` prints: the metrics at the top level, what they rest on beside them."""
        return {
            **self.metrics,
            "intervals": self.intervals,
            "groups": self.groups,
            "kind": self.kind,
            "corpus": self.corpus,
            "questions": self.questions_file,
            "settings": self.settings,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The file as it is saved."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"


def retrieval_run(
    result: RetrievalResult, indexed: IndexedCorpus, files: Sequence[Path], **settings: Any
) -> Run:
    """The run of an evaluation of retrieval."""
    notes: list[str] = []
    if result.skipped:
        notes.append(f"{result.skipped} questions name nothing relevant at this level: left out")
    if result.unresolved:
        some = ", ".join(result.unresolved[:3])
        notes.append(
            f"{len(result.unresolved)} relevant ids are no page of the corpus, e.g. {some}; "
            "they count as not found"
        )
    return _run(
        "retrieval",
        indexed,
        files,
        settings={**settings, "match": result.match},
        metrics=result.metrics(),
        intervals=result.intervals(),
        groups=result.groups(),
        notes=tuple(notes),
        questions=tuple(question.as_json() for question in result.questions),
    )


def answers_run(
    result: AnswersResult, indexed: IndexedCorpus, files: Sequence[Path], **settings: Any
) -> Run:
    """The run of an evaluation of answers, with its reliability and refusal curves."""
    labelled = [q for q in result.questions if q.answerable is not None]
    can = [float(bool(q.answerable)) for q in labelled]
    probabilities = [q.probability for q in labelled]
    refusal = precision_recall([1 - c for c in can], [1 - p for p in probabilities])
    return _run(
        "answers",
        indexed,
        files,
        settings={**settings, "model": result.model, "context": result.context},
        metrics=result.metrics(),
        intervals=result.intervals(),
        groups=result.groups(),
        curves={
            "reliability": [asdict(b) for b in reliability(can, probabilities)],
            "refusal": [asdict(point) for point in refusal],
        },
        questions=tuple(question.as_json() for question in result.questions),
    )


def _run(
    kind: Kind,
    indexed: IndexedCorpus,
    files: Sequence[Path],
    *,
    settings: Mapping[str, Any],
    **values: Any,
) -> Run:
    from quire import __version__

    now = utc_now()
    failed = indexed.ingestion.get("pages_failed", 0)
    if failed:
        values["notes"] = (*values.get("notes", ()), f"{failed} pages could not be read")
    shared = indexed.library.settings
    return Run(
        kind=kind,
        name=run_name(now, kind, indexed.corpus.name),
        created_at=now.isoformat(timespec="seconds"),
        corpus=str(_from_here(indexed.corpus.source)),
        questions_file=", ".join(str(file) for file in files),
        settings={
            "quire": __version__,
            "embedder": indexed.library.embedder.name,
            "top_k": shared.top_k,
            **settings,
        },
        **values,
    )


def _from_here(path: Path) -> Path:
    """Relative where it can be: a report is shown to others."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def run_name(moment: datetime, kind: str, corpus: str) -> str:
    """A name that sorts by time and says what it is."""
    slug = re.sub(r"[^a-z0-9]+", "-", f"{kind}-{corpus}".lower()).strip("-")
    return f"{moment:%Y%m%dT%H%M%S}-{slug}"


class Runs:
    """The runs kept in a data folder."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "evaluations"

    def save(self, run: Run) -> Path:
        """Write the run; a second one in the same second gets a number."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{run.name}.json"
        number = 1
        while path.exists():
            number += 1
            path = self.folder / f"{run.name}-{number}.json"
        path.write_text(run.to_json(), encoding="utf-8")
        return path

    def names(self) -> list[str]:
        """All saved runs, oldest first."""
        return sorted(path.stem for path in self.folder.glob("*.json"))

    def load(self, name: str) -> Run:
        """A run by path, by name, by the unique beginning or a part of its name."""
        path = Path(name)
        if not path.is_file():
            path = self.folder / f"{self._complete(name)}.json"
        return read_run(path)

    def _complete(self, name: str) -> str:
        wanted = name.removesuffix(".json")
        names = self.names()
        found = [known for known in names if known == wanted] or [
            known for known in names if wanted in known
        ]
        if not found:
            raise NotFound(f"there is no run '{name}' in {self.folder}")
        if len(found) > 1:
            raise InvalidRequest(f"'{name}' names several runs: {', '.join(found[:5])}")
        return found[0]


def read_run(path: Path) -> Run:
    """Read what `Runs.save` wrote."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data.pop("format") != FORMAT:
            raise InvalidRequest(f"'{path}' was written by another version of Quire")
        data["notes"], data["questions"] = tuple(data["notes"]), tuple(data["questions"])
        return Run(**data)
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InvalidRequest(f"'{path}' is not a saved run") from error
