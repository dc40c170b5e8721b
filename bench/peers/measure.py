"""Measures one system on one corpus and prints one JSON object.

    python bench/peers/measure.py chroma --corpus DIR --questions FILE [--limit N]

Run it with the Python of the system's environment: Quire's own for `quire`, that of
bench/requirements.txt for the others. One process a system, so that memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from systems import SYSTEMS, Hit, System, pages

DEPTH = 50
EDIT = "\n\nThis sentence was added by a benchmark, to see what one edit costs.\n"


def main() -> None:
    """Ingest, search, edit; everything measured in this process."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("system", choices=sorted(SYSTEMS))
    arguments.add_argument("--corpus", type=Path, required=True)
    arguments.add_argument("--questions", type=Path, required=True)
    arguments.add_argument("--limit", type=int)
    given = arguments.parse_args()
    stdout, sys.stdout = sys.stdout, sys.stderr  # some systems print; stdout is for the result
    rows = [json.loads(line) for line in given.questions.read_text("utf-8").splitlines() if line]
    rows = [row for row in rows if row.get("relevant")]
    if given.limit and given.limit < len(rows):
        rows = random.Random(0).sample(rows, given.limit)
    with tempfile.TemporaryDirectory(prefix="quire-peers-") as scratch:
        folder = Path(scratch).resolve() / "book"
        shutil.copytree(given.corpus, folder)
        result = measure(given.system, folder, Path(scratch) / "store", rows)
    stdout.write(json.dumps(result, indent=1) + "\n")
    stdout.flush()
    os._exit(0)  # some of them keep threads that never end


def measure(name: str, folder: Path, store: Path, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """All figures of one system."""
    system = SYSTEMS[name]()
    ingest, ingest_cpu = timed(lambda: system.ingest(folder, store))
    after_ingest = peak_mb()
    system.search(rows[0]["question"], DEPTH)
    times: list[float] = []
    found: dict[str, list[Hit]] = {}
    searched = cpu_seconds()
    for row in rows:
        start = time.perf_counter()
        found[row["id"]] = system.search(row["question"], DEPTH)
        times.append((time.perf_counter() - start) * 1000)
    search_cpu = (cpu_seconds() - searched) * 1000 / len(rows)
    edited = max(pages(folder), key=lambda page: (page.stat().st_size, page.as_posix()))
    exact = verbatim(folder, [hit for hits in found.values() for hit in hits[:5]])
    edited.write_text(edited.read_text("utf-8") + EDIT, encoding="utf-8")
    update, update_cpu = timed(lambda: system.update(folder, edited.relative_to(folder).as_posix()))
    return {
        "system": name,
        "how": system.how,
        "ingest_s": ingest,
        "ingest_cpu_s": ingest_cpu,
        "edit_s": update,
        "edit_cpu_s": update_cpu,
        "edit_found": edit_is_found(system, folder, edited),
        "peak_mb": after_ingest,
        "search_cpu_ms": search_cpu,
        "search_ms_p50": statistics.median(times),
        "search_ms_p99": statistics.quantiles(times, n=100)[98],
        **quality(rows, found),
        "verbatim": exact,
        "load": os.getloadavg()[0],
    }


def timed(work: Any) -> tuple[float, float]:
    """Seconds the work takes, on the clock and of all cores: the latter hardly knows of others."""
    start, used = time.perf_counter(), cpu_seconds()
    work()
    return time.perf_counter() - start, cpu_seconds() - used


def cpu_seconds() -> float:
    """Processor time of this process and of those it started and waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_mb() -> float:
    """The most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def quality(rows: list[dict[str, Any]], found: dict[str, list[Hit]]) -> dict[str, float]:
    """nDCG@10 and recall of pages; a page ranks by its best passage."""
    import ir_measures
    from ir_measures import RR, R, nDCG

    qrels = {r["id"]: {bare(p.partition("#")[0]): 1 for p in r["relevant"]} for r in rows}
    run = {
        id: {
            page: float(-rank)
            for rank, page in enumerate(dict.fromkeys(bare(hit.page) for hit in hits))
        }
        for id, hits in found.items()
    }
    values = ir_measures.calc_aggregate([nDCG @ 10, RR @ 10, R @ 1, R @ 5, R @ 10], qrels, run)
    return {
        "ndcg@10": values[nDCG @ 10],
        "mrr@10": values[RR @ 10],
        "recall@1": values[R @ 1],
        "recall@5": values[R @ 5],
        "recall@10": values[R @ 10],
        "n": len(rows),
    }


def verbatim(folder: Path, hits: list[Hit]) -> float:
    """The share of passages whose text stands in its file, character for character."""
    texts: dict[str, str] = {}
    for hit in hits:
        if hit.page not in texts:
            texts[hit.page] = (folder / hit.page).read_bytes().decode("utf-8")
    return sum(hit.text in texts[hit.page] for hit in hits) / max(1, len(hits))


def edit_is_found(system: System, folder: Path, edited: Path) -> bool:
    """Whether a search for the added sentence finds the edited page first."""
    page = edited.relative_to(folder).as_posix()
    hits = system.search(EDIT.strip(), DEPTH)
    return any(hit.page == page and "added by a benchmark" in hit.text for hit in hits[:3])


def bare(page: str) -> str:
    """The page without its extension."""
    return page.rsplit(".", 1)[0] if page.endswith((".md", ".mdx")) else page


if __name__ == "__main__":
    main()
