"""Measures an ONNX reader on the CPU, on the candidates the GPU harness retrieved, and compares two graphs.

python check.py .data/final/reader-int8.onnx --features features.json.xz --sets sample,rgb,squad2 --limit 600"""

import argparse
import json
import lzma
import time
from pathlib import Path

import numpy as np
from metrics import auroc, crossfit, holds, same
from read import SPAN, Reader, beside, words
from text import sentences


def features(readings, cosines, depth=5):
    rows = []
    for r, cos in zip(readings, cosines, strict=True):
        ans, rel = r.answerable[:depth], r.relevant[:depth]
        mine = [s for s in r.sentences if s.passage < depth]
        ev = max(s.evidence for s in mine)
        rows.append(
            [
                max(cos) if cos else 0.0,
                ans.max(),
                ev,
                rel.max(),
                max(s.span for s in mine),
                ans.max() + ev,
                np.sort(ans)[-2:].mean(),
            ]
        )
    return np.array(rows)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("graph", type=Path)
    ap.add_argument("--pack", type=Path, default=Path(".data/pack3"))
    ap.add_argument("--features", type=Path, required=True)
    ap.add_argument("--sets", default="sample,rgb,robolearn,mtrag,squad2")
    ap.add_argument("--limit", type=int, default=10_000)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--against", type=Path, help="another graph, for the agreement")
    args = ap.parse_args()
    sets = json.load(lzma.open(args.pack / "eval.json.xz"))
    found = json.load(lzma.open(args.features))
    reader = Reader(args.graph, args.pack / "tokenizer.json", args.threads)
    other = (
        Reader(args.against, args.pack / "tokenizer.json", args.threads) if args.against else None
    )
    out = {}
    for name in args.sets.split(","):
        s, f = sets[name], found[name]
        depth = 10 if name in ("sample",) else 5
        questions = s if name == "rgb" else s["questions"]
        pick = np.random.default_rng(1).permutation(len(questions))[: args.limit]
        readings, cosines, texts, agree, begin, count = [], [], [], [], time.time(), 0
        for i in sorted(pick):
            q = questions[i]
            passages = (
                [("", d) for d in q["docs"]]
                if name == "rgb"
                else [tuple(s["chunks"][c][:2]) for c in f["cand"][i][:depth]]
            )
            cos = None if name == "rgb" else f["cos"][i][: len(passages)]
            r = reader.read(q["question"], passages, cos)
            readings.append(r)
            cosines.append(cos)
            texts.append([passages[x.passage][1][x.start : x.end] for x in r.sentences[:3]])
            count += len(passages)
            if (
                not other
            ):  # the GPU's own choice on the same candidates (bf16), from the features file
                best, at, asked = -1e9, None, words(q["question"])
                for j, (_a, _r, numbers, values) in enumerate(f["read"][i][: len(passages)]):
                    for k, v in zip(numbers, values, strict=True):
                        a, b = sentences(passages[j][1])[k]
                        z = v[0] + SPAN * v[1]
                        z += beside(asked, passages[j][1][a:b], cos[j] if cos else 0.0)
                        if z > best:
                            best, at = z, (j, a)
                gpu = np.array([c[0] for c in f["read"][i][: len(passages)]])
                agree.append(
                    ((r.sentences[0].passage, r.sentences[0].start) == at, r.answerable - gpu)
                )
            if other:
                r2 = other.read(q["question"], passages, cos)
                agree.append(
                    (
                        (r.sentences[0].passage, r.sentences[0].start)
                        == (r2.sentences[0].passage, r2.sentences[0].start),
                        r.answerable - r2.answerable,
                    )
                )
        took = time.time() - begin
        qs = [questions[i] for i in sorted(pick)]
        x = features(readings, cosines)
        res = {"n": len(qs), "passages_per_s": round(count / took, 1)}
        if agree:
            res["same_sentence"] = round(float(np.mean([a for a, _ in agree])), 4)
            res["answerable_rms"] = round(
                float(np.sqrt(np.mean(np.concatenate([d for _, d in agree]) ** 2))), 4
            )
        if name == "rgb":
            case = np.array([q["case"] for q in qs])
            for c in sorted(set(case)):
                if c != "negative_rejection":
                    res[c] = round(
                        float(
                            np.mean(
                                [
                                    holds(t[0], q["answers"])
                                    for t, q in zip(texts, qs, strict=True)
                                    if q["case"] == c
                                ]
                            )
                        ),
                        4,
                    )
            res["refusal_auroc"] = round(
                auroc(x[np.char.startswith(case, "noise"), 1], x[case == "negative_rejection", 1]),
                4,
            )
        else:
            y = np.array(
                [
                    q.get("answerability", "ANSWERABLE" if q["answerable"] else "UNANSWERABLE")
                    for q in qs
                ]
            )
            good = holds if name == "squad2" else same
            if name in ("squad2", "sample"):
                for k in (1, 2, 3):
                    res[f"sentence@{k}"] = round(
                        float(
                            np.mean(
                                [
                                    any(good(u, q["answers"]) for u in t[:k])
                                    for t, q in zip(texts, qs, strict=True)
                                    if q["answerable"]
                                ]
                            )
                        ),
                        4,
                    )
            keep = (y == "ANSWERABLE") | (y == "UNANSWERABLE")
            for k, label in enumerate(("cosine", "answerable", "evidence", "relevant")):
                res["auroc_" + label] = round(
                    auroc(x[y == "ANSWERABLE", k], x[y == "UNANSWERABLE", k]), 4
                )
            res["auroc_combined"] = round(
                crossfit(x[keep], (y[keep] == "ANSWERABLE").astype(float)), 4
            )
        out[name] = res
        print(name, json.dumps(res), flush=True)


if __name__ == "__main__":
    main()
