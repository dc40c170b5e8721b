"""Contrastive fine-tuning of MiniLM on documentation and question-passage pairs, measured between the old and the new weights.

python train_embedder.py --pack .data/pack3 --out OUT --seconds 90 90
"""

import argparse
import json
import lzma
import math
import time
from pathlib import Path

import evaluate
import numpy as np
import torch
import torch.nn.functional as F
from encode import question_ids, tokenizer
from metrics import ndcg, page_recall
from model import Body, embed, embed_all, load_body, plain
from train import DEVICE, SHARE, log, negatives, prepare, save

CONFIGS = [
    {"docs_only": False, "lr": 8e-5, "keep": 0.1},
    {"docs_only": True, "lr": 8e-5, "keep": 0.1},
]


def retrieval(bench, body) -> dict:
    out = {}
    vc = embed_all(body, [c["ids"] for c in bench.contexts], DEVICE)
    vq = embed_all(body, bench.q_ids, DEVICE)
    for name in (*evaluate.BOOKS, "squad2", "sample"):
        s = bench.sets[name]
        c0, q0 = bench.first[name]
        sims = vq[q0 : q0 + len(s["questions"])] @ vc[c0 : c0 + len(s["chunks"])].T
        dense = sims.topk(60, 1).indices.tolist()
        keep = [i for i, q in enumerate(s["questions"]) if q["relevant"]]
        truth = [s["questions"][i]["relevant"] for i in keep]
        d = [evaluate.pages_of(dense[i], s["chunks"]) for i in keep]
        h = [
            evaluate.pages_of(
                evaluate.rrf([dense[i], s["questions"][i]["bm25"]], (1, 1)), s["chunks"]
            )
            for i in keep
        ]
        out[name] = [round(page_recall(d, truth), 4), round(page_recall(h, truth), 4)]
        if name == "scifact":
            out["scifact_ndcg"] = [round(ndcg(d, truth), 4), round(ndcg(h, truth), 4)]
    return out


def fit(d, ids, negs, base, config, seconds, seed, pack, batch=1536):
    body = Body(0.1).to(DEVICE)
    load_body(body, str(pack / "init.safetensors"))
    body.train()
    rng = np.random.default_rng(seed)
    use = [
        i
        for i, b in enumerate(d["base"])
        if b[6] not in ("qamr", "quac", "doqa", "pos_swap", "iirc")
        and (not config["docs_only"] or b[6].startswith("docs"))
        and negs[i]
    ]
    share = np.array(
        [{**SHARE, "docs_heading": 1.0, "docs": 1.0}.get(d["base"][i][6], 1.0) for i in use]
    )
    opt = torch.optim.AdamW(
        body.parameters(), lr=config["lr"], weight_decay=0.01, fused=DEVICE == "cuda"
    )
    begin, step, total = time.time(), 0, 0.0
    while True:
        order = np.array(use)[rng.random(len(use)) < share]
        rng.shuffle(order)
        for a in range(0, len(order) - batch + 1, batch):
            progress = (time.time() - begin) / seconds
            if progress >= 1:
                log(f"{config} {step} steps")
                return body.eval()
            for g in opt.param_groups:
                g["lr"] = (
                    config["lr"] * min(1, step / 30) * 0.5 * (1 + math.cos(math.pi * progress))
                )
            pick = order[a : a + batch]
            q, pos, neg = [], [], []
            for i in pick:
                b = d["base"][i]
                c = b[8] if b[8] >= 0 and rng.random() < 0.6 else b[1]
                q.append(ids[b[0]])
                pos.append(d["contexts"][c]["ids"])
                neg.append(d["contexts"][negs[i][int(rng.integers(len(negs[i])))]]["ids"])
            with torch.autocast(DEVICE, torch.bfloat16):
                vq, vp = embed(body, plain(q, DEVICE)), embed(body, plain(pos, DEVICE))
                vn = embed(body, plain(neg, DEVICE))
                with torch.no_grad():
                    oq, op = embed(base, plain(q, DEVICE)), embed(base, plain(pos, DEVICE))
            # an in-batch passage too near the positive (a twin page) or of the same text is no negative
            with torch.no_grad():
                twin = (op @ op.T) > 0.9
                twin.fill_diagonal_(False)
            s = 20 * vq @ vp.T
            s = s.masked_fill(twin, -1e4)
            logits = torch.cat([s, 20 * vq @ vn.T], 1)
            target = torch.arange(len(pick), device=DEVICE)
            loss = F.cross_entropy(logits, target) + 0.5 * F.cross_entropy(s.T, target)
            loss = loss + config["keep"] * 10 * (
                (1 - (vq * oq).sum(1)).mean() + (1 - (vp * op).sum(1)).mean()
            )
            opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(body.parameters(), 1.0)
            opt.step()
            step += 1
            total += float(loss.detach())
            if step % 50 == 0:
                log(
                    f"step {step} loss {total / 50:.3f} {step * batch / (time.time() - begin):.0f} pairs/s"
                )
                total = 0.0


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--pack", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--seconds", type=float, nargs="+", default=[90, 60])
    ap.add_argument("--workers", type=int, default=16)
    args = ap.parse_args()
    bench = evaluate.Bench(
        json.load(lzma.open(args.pack / "eval.json.xz")), args.pack / "tokenizer.json", args.workers
    )
    d = prepare(args.pack, args.workers, skip_edits=True)
    ids = question_ids(tokenizer(args.pack / "tokenizer.json"), d["questions"])
    base = Body(0.0).to(DEVICE).eval()
    load_body(base, str(args.pack / "init.safetensors"))
    vc = embed_all(base, [c["ids"] for c in d["contexts"][: len(d["passages"])]], DEVICE)
    negs = negatives(d, vc, embed_all(base, ids, DEVICE))
    report = {"minilm": retrieval(bench, base)}
    log("minilm", json.dumps(report["minilm"]))
    old, best = base.state_dict(), (-9.0, None)
    for k, (config, seconds) in enumerate(zip(CONFIGS, args.seconds, strict=False)):
        new = fit(d, ids, negs, base, config, seconds, 5 + k, args.pack).state_dict()
        for mix in (0.25, 0.5, 0.75, 1.0):
            trial = Body(0.0).to(DEVICE).eval()
            trial.load_state_dict({n: old[n] + mix * (new[n] - old[n]) for n in old})
            r = retrieval(bench, trial)
            report[f"config{k} mix {mix}"] = r
            gain = [r[n][1] - report["minilm"][n][1] for n in evaluate.BOOKS]
            log(
                f"config{k} mix {mix} mean gain {np.mean(gain):+.4f} least {min(gain):+.4f}",
                json.dumps(r),
            )
            score = np.mean(gain) + 2 * min(0, min(gain) + 0.005)
            if score > best[0]:
                best = (score, {n: v.clone() for n, v in trial.state_dict().items()})
                report["best"] = f"config{k} mix {mix}"
        (args.out / "embedder.json").write_text(json.dumps(report, indent=1))
    save(best[1], args.out, "embedder")
    (args.out / "embedder.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
