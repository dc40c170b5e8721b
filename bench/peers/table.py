"""Prints the measured systems as a Markdown table, Quire first, and each as a ratio to Quire."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

COLUMNS = {
    "nDCG@10": ("ndcg@10", 3, True),
    "recall@1": ("recall@1", 3, True),
    "recall@5": ("recall@5", 3, True),
    "ingest (CPU s)": ("ingest_cpu_s", 1, False),
    "one edit (CPU s)": ("edit_cpu_s", 2, False),
    "peak memory (MB)": ("peak_mb", 0, False),
    "a search (CPU ms)": ("search_cpu_ms", 1, False),
    "search p50 (ms)": ("search_ms_p50", 1, False),
    "passages verbatim": ("verbatim", 3, True),
}


def main() -> None:
    """One row per system; the best of each column is bold."""
    results = [read(path) for path in sorted(Path(sys.argv[1]).glob("*.json"))]
    results = [result for result in results if result]
    results.sort(key=lambda result: (result["system"] != "quire", -result["ndcg@10"]))
    lines = [f"| system | {' | '.join(COLUMNS)} |", f"|---|{'---:|' * len(COLUMNS)}"]
    for result in results:
        cells = [cell(result, results, *column) for column in COLUMNS.values()]
        lines.append(f"| {result['system']} | {' | '.join(cells)} |")
    lines.append("")
    lines += [f"- **{result['system']}**: {result['how']}." for result in results]
    sys.stdout.write("\n".join(lines) + "\n")


def read(path: Path) -> dict[str, Any] | None:
    """A result, or nothing where a system failed."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if text.strip() else None


def cell(
    result: dict[str, Any], results: list[dict[str, Any]], key: str, digits: int, higher: bool
) -> str:
    """The value, bold when no other is better."""
    value = result[key]
    best = (max if higher else min)(other[key] for other in results)
    text = f"{value:,.{digits}f}"
    return f"**{text}**" if value == best else text


if __name__ == "__main__":
    main()
