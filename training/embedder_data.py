"""Packs what `train_adapter.py` needs: training pairs, and the chunks and dev questions of measured books.

    python embedder_data.py --pack .data/pack3 --books DUMP.json ... --out .data/embedder2

A dump is `{"chunks": [[page, embedded text], ...], "questions": [[text, [page, ...]], ...]}`, the chunks as the product cuts
and embeds them; the file's name is the book's.
"""

import argparse
import json
import lzma
from pathlib import Path

import numpy as np

SHARE = {
    "docs": 1.0,
    "docs_heading": 1.0,
    "docs_api": 1.0,
    "docs_def": 1.0,
    "squad": 0.5,
    "boolq": 0.3,
    "nq": 0.8,
    "medquad": 0.15,
    "pubmedqa": 0.5,
    "covidqa": 0.3,
    "qasper": 1.0,
    "fairytale": 0.15,
}  # of the answerable rows; sources that aren't named lean on their passage or have no licence
LONGEST = 900  # characters of a passage: about what a chunk of the product holds


def dump(path: Path, value) -> None:
    path.write_bytes(
        lzma.compress(
            json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), preset=9
        )
    )
    print(path.name, path.stat().st_size)


def training(pack: Path, seed: int) -> dict:
    data = json.load(lzma.open(pack / "train.json.xz"))
    rng = np.random.default_rng(seed)
    rows, used, passages = [], {}, []
    for r in data["rows"]:
        if r["y"] != 1 or rng.random() >= SHARE.get(r["src"], 0.0):
            continue
        if r["p"] not in used:
            used[r["p"]] = len(passages)
            title, text = data["P"][r["p"]]
            start = 0
            if r.get("ev") and r["ev"][0][1] > LONGEST:
                start = max(0, r["ev"][0][0] - LONGEST // 2)
            passages.append([title, text[start : start + LONGEST]])
        rows.append([r["q"], used[r["p"]], r["src"], r.get("t")])
    print(len(passages), "passages", len(rows), "rows")
    return {"passages": passages, "rows": rows}


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--pack", type=Path, required=True)
    ap.add_argument("--books", type=Path, nargs="+", required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--seed", type=int, default=7)
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    dump(args.out / "train.json.xz", training(args.pack, args.seed))
    dump(args.out / "books.json.xz", {p.stem: json.loads(p.read_text("utf8")) for p in args.books})
    (args.out / "tokenizer.json").write_bytes((args.pack / "tokenizer.json").read_bytes())


if __name__ == "__main__":
    main()
