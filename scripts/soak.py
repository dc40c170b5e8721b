"""`make soak`: the long versions of the trust tests one by one, then mixed load with faults.

What passed is kept in `.soak/` and skipped when the command is started again (`--fresh` forgets
it). Every part is seeded and bounded in time. What was measured is in `.soak/figures.jsonl`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".soak"
PARTS: dict[str, tuple[str, int]] = {
    "kill": ("tests/integration/ingestion/test_kill.py", 60),
    "ingestion": ("tests/faults/test_ingestion.py", 40),
    "streams": ("tests/faults/test_streams.py", 15),
    "shutdown": ("tests/integration/service/test_shutdown.py", 10),
    "dependencies": ("tests/faults/test_dependencies.py", 80),
    "isolation": ("tests/faults/test_isolation.py", 60),
    "limits": ("tests/contract/test_limits.py", 10),
    "schema": ("tests/integration/service/test_schema.py", 30),
    "requests": ("tests/faults/test_hostile_requests.py", 10),
    "pages": ("tests/faults/test_hostile_pages.py", 60),
    "model": ("tests/integration/answering/test_hostile_model.py", 60),
    "erasure": ("tests/faults/test_erasure.py", 10),
    "backup": ("tests/faults/test_backup.py", 15),
    "mutants": ("tests/faults/test_mutants.py", 90),
}
"""Each part with its tests and the minutes it may take."""


def main() -> None:
    """Run what has not passed yet, then the load."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="of mixed load; 0 leaves it out"
    )
    parser.add_argument("--seed", type=int, default=20261115)
    parser.add_argument("--fresh", action="store_true", help="forget what passed before")
    parser.add_argument("--only", nargs="+", choices=[*PARTS, "load"], help="just these parts")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    state = FOLDER / "passed.json"
    if given.fresh:
        state.unlink(missing_ok=True)
    passed = json.loads(state.read_text()) if state.exists() else {}
    failed: list[str] = []
    for name in given.only or [*PARTS, "load"]:
        if name in passed and not given.only:
            print(f"{name:12} passed on {passed[name]['date']}", flush=True)
            continue
        began = time.monotonic()
        ok = load(given.minutes, given.seed) if name == "load" else run(name, given.seed)
        seconds = round(time.monotonic() - began)
        print(f"{name:12} {'passed' if ok else 'FAILED'} in {seconds} s", flush=True)
        if ok:
            passed[name] = {"date": time.strftime("%Y-%m-%d"), "seconds": seconds}
            state.write_text(json.dumps(passed, indent=2))
        else:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; logs are in {FOLDER}")


def run(name: str, seed: int) -> bool:
    """One part in a process of its own."""
    path, minutes = PARTS[name]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
    return finished(command, name, seed, 60 * minutes)


def load(minutes: float, seed: int) -> bool:
    """Mixed load with faults."""
    if minutes <= 0:
        return True
    command = [sys.executable, "-m", "tests.faults.soak", "--minutes", str(minutes)]
    return finished(command, "load", seed, 60 * minutes + 600)


def finished(command: list[str], name: str, seed: int, seconds: float) -> bool:
    """Whether the command ended well and in time; its output is kept."""
    environment = {
        **os.environ,
        "QUIRE_SOAK": "1",
        "QUIRE_SOAK_SEED": str(seed),
        "QUIRE_SOAK_FIGURES": str(FOLDER / "figures.jsonl"),
    }
    with (FOLDER / f"{name}.log").open("w") as log:
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            log.write(f"\nnot finished within {seconds:.0f} s\n")
            return False
    return done.returncode == 0


if __name__ == "__main__":
    main()
