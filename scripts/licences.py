"""The licence of everything `make setup` installs: docs/licences.md, and a check of it.

python scripts/licences.py            write docs/licences.md
python scripts/licences.py --check    fail if a licence is unknown or not allowed, or the page stale
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "licences.md"

ALLOWED = {
    "Apache-2.0",
    "MIT",
    "MIT-0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "0BSD",
    "ISC",
    "PSF-2.0",
    "Python-2.0",
    "MPL-2.0",
    "Unlicense",
    "CC0-1.0",
    "Zlib",
    "PostgreSQL",
    "HPND",
    "CNRI-Python",
    "LicenseRef-Public-Domain",
}
"""Licences that allow use, change and redistribution beside Apache-2.0 code."""
REASONED = {
    "OFL-1.1": "fonts, bundled as they are",
    "LGPL-3.0-only": "used as a library, unchanged and replaceable",
    "LGPL-3.0-or-later": "used as a library, unchanged and replaceable",
}
"""Allowed with a reason."""
DEVELOPMENT = {"GPL-2.0-or-later", "GPL-3.0-or-later"}
"""Allowed for tools that are never shipped."""
SAID_ELSEWHERE = {"py-rust-stemmers": "MIT"}
"""Where the metadata are silent: what the project's repository says."""
TITLES = {
    "With Quire and its extras": "program",
    "In the page and the widget": "page",
    "For developers only": "development",
}
SPELLINGS = (
    (r"apache.*2|^apache( software license)?$", "Apache-2.0"),
    (r"mozilla|mpl", "MPL-2.0"),
    (r"lesser.*or later|lgpl.*(\+|or.later)", "LGPL-3.0-or-later"),
    (r"lesser|lgpl", "LGPL-3.0-only"),
    (r"^(the )?mit( license)?$|^mit ", "MIT"),
    (r"bsd.*2|2.clause", "BSD-2-Clause"),
    (r"bsd", "BSD-3-Clause"),
    (r"python software|psf|^python", "PSF-2.0"),
    (r"isc", "ISC"),
    (r"unlicense", "Unlicense"),
    (r"public domain", "LicenseRef-Public-Domain"),
    (r"postgresql", "PostgreSQL"),
)


@dataclass(frozen=True, order=True)
class Licensed:
    """A distribution and what its metadata say of its licence."""

    name: str
    version: str
    licence: str
    where: Literal["program", "page", "development"]


def main() -> None:
    """Write the page, or check it."""
    found = [*sorted(installed()), *bundled()]
    if "--check" not in sys.argv:
        PAGE.write_text(page(found), "utf-8")
    if complaints := problems(found) + missing(found):
        sys.exit("\n".join(complaints))


def missing(found: list[Licensed]) -> list[str]:
    """What is not on the page in this version."""
    text = PAGE.read_text("utf-8")
    return [
        f"{entry.name} {entry.version} is not in docs/licences.md; run: make licences"
        for entry in found
        if f"| {entry.name} | {entry.version} |" not in text
    ]


def bundled() -> list[Licensed]:
    """What is built into the page and the widget."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text("utf-8"))
    return [
        Licensed(
            path.rpartition("node_modules/")[2],
            entry["version"],
            entry.get("license", "unknown"),
            where="page",
        )
        for path, entry in sorted(lock["packages"].items())
        if path and not entry.get("dev")
    ]


def installed() -> list[Licensed]:
    """What `constraints.txt` names and is installed here."""
    pinned = {
        line.partition("==")[0]
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    }
    known = {name_of(d.metadata["Name"]): d for d in distributions()}
    shipped = reached(known)

    def where(name: str) -> Literal["program", "development"]:
        return "program" if name in shipped else "development"

    return [
        Licensed(name, known[name].version, licence_of(known[name]), where(name))
        for name in sorted(pinned & set(known))
    ]


def reached(known: dict[str, Distribution]) -> set[str]:
    """What Quire and its extras depend on, directly or not."""
    from pip._vendor.packaging.requirements import Requirement

    seen: set[tuple[str, frozenset[str]]] = set()
    todo: list[tuple[str, frozenset[str]]] = []
    for text in known["quire"].requires or []:
        requirement = Requirement(text)
        todo.append((name_of(requirement.name), frozenset(requirement.extras)))
    while todo:
        name, extras = entry = todo.pop()
        if entry in seen or name not in known:
            continue
        seen.add(entry)
        for text in known[name].requires or []:
            requirement = Requirement(text)
            marker = requirement.marker
            contexts = [{"extra": extra} for extra in (*extras, "")]
            if marker is None or any(marker.evaluate(context) for context in contexts):
                todo.append((name_of(requirement.name), frozenset(requirement.extras)))
    return {name for name, _ in seen}


def licence_of(distribution: Distribution) -> str:
    """An SPDX expression, from whichever field says it; `unknown` when none does."""
    metadata = distribution.metadata
    if expression := metadata.get("License-Expression"):
        return expression
    classifiers = [
        value.rpartition(" :: ")[2]
        for value in metadata.get_all("Classifier") or []
        if value.startswith("License ::") and not value.endswith("OSI Approved")
    ]
    field = (metadata.get("License") or "").strip().splitlines()
    for text in (*classifiers, *field[:1]):
        for pattern, licence in SPELLINGS:
            if re.search(pattern, text.lower()):
                return licence
    silent = SAID_ELSEWHERE.get(name_of(metadata["Name"]), "unknown")
    return field[0][:40] if field else silent


def problems(found: list[Licensed]) -> list[str]:
    """One line for each licence that is unknown or not allowed."""
    return [
        f"{entry.name} {entry.version}: licence {entry.licence!r} is not allowed"
        for entry in found
        if not is_allowed(entry)
    ]


def is_allowed(entry: Licensed) -> bool:
    """Whether one of the alternatives holds, each of whose parts is allowed."""
    allowed = ALLOWED | set(REASONED) | (DEVELOPMENT if entry.where == "development" else set())
    return any(
        all(
            part.strip(" ()").partition(" WITH ")[0] in allowed
            for part in re.split(r" AND ", alternative)
        )
        for alternative in re.split(r" OR ", entry.licence)
    )


def name_of(text: str) -> str:
    """The normal form of a distribution's name."""
    return re.sub(r"[-_.]+", "-", text).lower()


def page(found: list[Licensed]) -> str:
    """The page: what is shipped, then what only developers install."""
    lines = [
        "# Licences",
        "",
        "Quire is under Apache-2.0. What it is installed with (`make setup`), from the metadata of",
        "each package; written by `make licences`, and a test fails when a licence is unknown or",
        "doesn't go with Apache-2.0.",
    ]
    for title, where in TITLES.items():
        lines += ["", f"## {title}", "", "| package | version | licence |", "|---|---|---|"]
        lines += [f"| {e.name} | {e.version} | {e.licence} |" for e in found if e.where == where]
    lines += ["", "## Allowed with a reason", ""]
    lines += [f"- {licence}: {reason}." for licence, reason in REASONED.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
