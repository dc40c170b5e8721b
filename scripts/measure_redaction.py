"""Recall and precision of redaction on sentences with marked spans, by type.

    python scripts/measure_redaction.py sentences.jsonl

Each line: {"text": …, "spans": [{"type": …, "start": …, "end": …}]}. A span counts as found when
one finding covers it whole; a finding counts as right when it touches a span of its own type,
and as harmless when it touches personal data of another type.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from quire.conversations.personal import find

TYPES = {
    "EMAIL_ADDRESS": "email",
    "IBAN_CODE": "iban",
    "CREDIT_CARD": "card",
    "US_SSN": "ssn",
    "IP_ADDRESS": "ip",
    "PHONE_NUMBER": "phone",
}


def main(path: str) -> None:
    """Print a line for each type."""
    there: Counter[str] = Counter()
    found: Counter[str] = Counter()
    said: Counter[str] = Counter()
    right: Counter[str] = Counter()
    personal: Counter[str] = Counter()
    for line in Path(path).read_text("utf-8").splitlines():
        sentence = json.loads(line)
        spans = sentence["spans"]
        findings = find(sentence["text"])
        for span in spans:
            kind = TYPES.get(span["type"])
            if kind:
                there[kind] += 1
                found[kind] += any(
                    f.start <= span["start"] and span["end"] <= f.end for f in findings
                )
        for finding in findings:
            met = [
                s["type"] for s in spans if s["start"] < finding.end and finding.start < s["end"]
            ]
            said[finding.kind] += 1
            right[finding.kind] += finding.kind in [TYPES.get(name) for name in met]
            personal[finding.kind] += bool(met)
    for kind in TYPES.values():
        print(
            f"{kind:6} spans {there[kind]:4}  recall {found[kind] / max(1, there[kind]):.3f}  "
            f"precision {right[kind] / max(1, said[kind]):.3f}  "
            f"personal of any type {personal[kind] / max(1, said[kind]):.3f}"
        )


if __name__ == "__main__":
    main(sys.argv[1])
