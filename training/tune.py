"""The weights of a sentence's score and of the confidence, looked at on the dump of a training run (no model is run).

python tune.py --features .data/features.json.xz --pack .data/pack3"""

import argparse
import json
import lzma
from pathlib import Path

import numpy as np
from metrics import auroc, crossfit, holds, logistic, normal, same
from read import words
from text import sentences

DEPTHS = (3, 5, 8, 10)  # passages read
SETS = ("squad2", "mtrag", "robolearn", "sample")
WEIGHTS = {  # evidence, span, relevance, cosine, ln(words), overlap, question or introduction or scrap
    "evidence alone": (1, 0, 0, 0, 0, 0, 0),
    "+ span": (1, 0.6, 0, 0, 0, 0, 0),
    "+ relevance": (1, 0.6, 1.5, 0, 0, 0, 0),
    "+ cosine": (1, 0.6, 1.5, 15, 0, 0, 0),
    "+ length": (1, 0.6, 1.5, 15, 0.7, 0, 0),
    "overlap for relevance": (1, 0.6, 0, 30, 1, 5, 0),
    "read.py": (1, 0.6, 0, 30, 1, 5, -10),
}


def choices(sets, found, name, good, depth):
    """Per question: (sentence features, is each sentence right, case)."""
    rows = []
    for i, q in enumerate(sets[name] if name == "rgb" else sets[name]["questions"]):
        if (name == "rgb" and not q["case"].startswith("noise")) or not q["answerable"]:
            continue
        texts = (
            q["docs"]
            if name == "rgb"
            else [sets[name]["chunks"][c][1] for c in found[name]["cand"][i][:depth]]
        )
        cos = found[name]["cos"][i] if name != "rgb" else [0.0] * len(texts)
        x, ok, asked = [], [], words(q["question"])
        for j, (_a, rel, numbers, values) in enumerate(found[name]["read"][i][: len(texts)]):
            spans = sentences(texts[j])
            for k, v in zip(numbers, values, strict=True):
                s = texts[j][slice(*spans[k])]
                held = len(asked & words(s)) / max(1, len(asked))
                seldom = (len(s.split()) < 4) + s.rstrip().endswith(("?", ":"))
                x.append([v[0], v[1], rel, cos[j], np.log(len(s.split())), held, seldom])
                ok.append(good(s, q["answers"]))
        rows.append((np.array(x), np.array(ok), q.get("case")))
    return rows


def accuracy(rows, w, case=None, k=1):
    return round(
        float(
            np.mean(
                [
                    ok[np.argsort(-(x @ np.array(w)))[:k]].any()
                    for x, ok, c in rows
                    if case is None or c == case
                ]
            )
        ),
        4,
    )


def confidence(sets, found, name, depth=5):
    """Features (cosine, BM25 per query word, answerable, evidence, relevance) and labels."""
    x, y = [], []
    for i, q in enumerate(sets[name]["questions"]):
        label = q.get("answerability", "ANSWERABLE" if q["answerable"] else "UNANSWERABLE")
        if label not in ("ANSWERABLE", "UNANSWERABLE"):
            continue
        r = found[name]["read"][i][:depth]
        x.append(
            [
                max(found[name]["cos"][i]),
                q["bm25_scores"][0] / max(1, len(normal(q["question"]).split())),
                max(c[0] for c in r),
                max(max((v[0] for v in c[3]), default=-10) for c in r),
                max(c[1] for c in r),
            ]
        )
        y.append(label == "ANSWERABLE")
    return np.array(x), np.array(y, float)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--features", type=Path, required=True)
    ap.add_argument("--pack", type=Path, required=True)
    args = ap.parse_args()
    sets, found = (
        json.load(lzma.open(args.pack / "eval.json.xz")),
        json.load(lzma.open(args.features)),
    )
    squad = {d: choices(sets, found, "squad2", holds, d) for d in DEPTHS}
    sample = {d: choices(sets, found, "sample", same, d) for d in DEPTHS}
    rgb = choices(sets, found, "rgb", holds, 10)
    for label, w in WEIGHTS.items():
        print(
            f"{label:20}",
            *(f"squad2 top{d} {accuracy(r, w)}" for d, r in squad.items()),
            *(
                f"sample top{d} {accuracy(r, w)} @3 {accuracy(r, w, k=3)} @5 {accuracy(r, w, k=5)}"
                for d, r in sample.items()
            ),
            *(f"rgb {c} {accuracy(rgb, w, c)}" for c in ("noise_0.0", "noise_0.4", "noise_0.8")),
        )
    data = {n: confidence(sets, found, n) for n in SETS}
    for label, cols in (
        ("cosine", [0]),
        ("cosine, BM25", [0, 1]),
        ("answerable", [2]),
        ("cosine, answerable", [0, 2]),
        ("all", [0, 1, 2, 3, 4]),
    ):
        within = {
            n: round(float(np.mean([crossfit(x[:, cols], y, seed=s) for s in range(5)])), 4)
            for n, (x, y) in data.items()
        }
        across = {}
        for n in SETS:
            rng = np.random.default_rng(0)
            take = {m: rng.integers(0, len(data[m][1]), 400) for m in SETS if m != n}
            x = np.concatenate([data[m][0][t][:, cols] for m, t in take.items()])
            w = logistic(
                (x - x.mean(0)) / x.std(0), np.concatenate([data[m][1][t] for m, t in take.items()])
            )
            z = np.c_[(data[n][0][:, cols] - x.mean(0)) / x.std(0), np.ones(len(data[n][1]))] @ w
            across[n] = round(auroc(z[data[n][1] == 1], z[data[n][1] == 0]), 4)
        print(
            f"AUROC {label:20} fitted within each set (5-fold) {within}   fitted on the other sets {across}"
        )


if __name__ == "__main__":
    main()
