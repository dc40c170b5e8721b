"""A larger teacher (teacher.py) trained on the labels, then the shipped reader trained on its outputs. One GPU, 23 minutes.

python distil.py --pack .data/pack3 --gguf SmolLM2-135M-Instruct.Q4_1.gguf --out OUT --total 1330 --compile

The teacher's outputs are computed once for a fixed set of batches and kept on the device; the reader goes over them many times."""

import argparse
import json
import lzma
import time
from pathlib import Path

import evaluate
import numpy as np
import torch
import torch.nn.functional as F
from encode import MAX_SENTENCES, contexts_of, question_ids, tokenizer
from model import Reader, Store, embed_all, load_body, segment_lse
from teacher import BEGIN, END, Gguf, Teacher
from train import (
    CLOZE,
    DEVICE,
    NEGATIVE,
    POSITIVE,
    T0,
    Plan,
    fit,
    fresh_reader,
    labelled,
    labels,
    log,
    loss_of,
    negatives,
    on_device,
    outputs,
    prepare,
    save,
    segment_kl,
    stream,
    without,
)

LONGEST = 330  # of the teacher's tokens in a passage
ABSENT = -6e4


def teacher_side(d: dict, bench, tok_path: Path, workers: int):
    """The same questions and contexts in the teacher's tokens: (store, data with its spans, lengths); the bench gets a store."""
    tok = tokenizer(tok_path)
    contexts = contexts_of(d["pairs"], tok_path, workers, LONGEST)
    contexts += [without(contexts[c], drop) for c, drop in d["cuts"]]
    ids = question_ids(tok, d["questions"])
    base = []
    for b in d["base"]:
        _, s, e = labels(contexts[b[1]], b[9], None)
        base.append((*b[:3], s, e, *b[5:]))
    store = Store(ids, contexts, DEVICE, BEGIN, END)
    bench.stores["Teacher"] = Store(
        question_ids(tok, bench.questions),
        contexts_of(bench.pairs, tok_path, workers, LONGEST),
        DEVICE,
        BEGIN,
        END,
    )
    lengths = np.array([len(x) for x in ids]), np.array([len(c["ids"]) for c in contexts])
    return store, {**d, "base": base}, lengths


def by_sentence(o: dict) -> tuple[torch.Tensor, torch.Tensor]:
    """How much of the start's and of the end's weight a sentence holds (log-sum-exp)."""
    n = len(o["evidence"])
    return tuple(segment_lse(o[k], o["token_sentence"], n) for k in ("start", "end"))


@torch.no_grad()
def remember(teacher, store, batches, seconds: float) -> list[dict]:
    """Batches with the teacher's outputs, as many as the time allows."""
    out, begin, items_done = [], time.time(), 0
    for batch in batches:
        if time.time() - begin > seconds:
            break
        items = on_device(batch)
        with torch.autocast(DEVICE, torch.bfloat16):
            o = outputs(teacher, store, items)
        dense = torch.full((3, o["n"], MAX_SENTENCES), ABSENT, device=DEVICE, dtype=torch.float16)
        for k, x in enumerate((o["evidence"], *by_sentence(o))):
            dense[k, o["sentence_item"], o["sentence_number"]] = x.half()
        items |= {"t_sentences": dense, "t_first": torch.stack([o["answerable"], o["relevant"]], 1)}
        out.append(items)
        items_done += o["n"]
    log(f"teacher's outputs of {items_done} items in {len(out)} batches")
    return out


def joined(a: dict, b: dict) -> dict:
    """Two remembered batches as one; their groups stay apart."""
    shift = a["g"].max() + 1 - b["g"].min()
    return {
        k: torch.cat([a[k], b[k] + shift if k == "g" else b[k]], 1 if k == "t_sentences" else 0)
        for k in a
    }


def remembered(batches: list[dict], seed: int):
    rng, epoch = np.random.default_rng(seed), 0
    while True:
        order = rng.permutation(len(batches))
        for i in range(0, len(order) - 1, 2):
            yield epoch, joined(batches[order[i]], batches[order[i + 1]])
        epoch += 1


def taught(store):
    """The loss of a remembered batch: the teacher's outputs, and the labels at a third of their weight (spans at all of it)."""

    def step(model, items):
        with torch.autocast(DEVICE, torch.bfloat16):
            o = outputs(model, store, items)
        total, parts = loss_of(model, o, items)
        kind, g = items["type"], items["g"] - items["g"].min()
        groups = int(g.max()) + 1
        listed = (kind == POSITIVE) | (kind == NEGATIVE)
        si = o["sentence_item"]
        target = items["t_sentences"][:, si, o["sentence_number"]].float()
        known = target[0] > ABSENT / 2
        use = listed[si] & known
        mine = (o["evidence"], *by_sentence(o))
        loss = 0.3 * total + 0.21 * (parts["start"] + parts["end"])
        for name, weight, t, x in zip(
            ("evidence", "start", "end"), (1.0, 0.3, 0.3), target, mine, strict=True
        ):
            parts["t_" + name] = segment_kl(t[use], x[use], g[si[use]], groups)
            loss = loss + weight * parts["t_" + name]
        parts["t_level"] = F.mse_loss(o["evidence"][known], target[0][known])
        answerable, relevant = items["t_first"].unbind(1)
        judged = kind != CLOZE
        parts["t_answerable"] = F.binary_cross_entropy_with_logits(
            o["answerable"][judged], torch.sigmoid(answerable[judged])
        )
        parts["t_relevant"] = segment_kl(relevant[listed], o["relevant"][listed], g[listed], groups)
        loss = (
            loss + 0.03 * parts["t_level"] + 1.0 * parts["t_answerable"] + 0.5 * parts["t_relevant"]
        )
        return loss, parts

    return step


def awaited(path: Path) -> None:
    """Large inputs may still be on their way while the rows are tokenised."""
    while not path.exists():
        time.sleep(1)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--pack", type=Path, default=Path(".data/pack3"))
    ap.add_argument("--gguf", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--total", type=float, default=1330, help="seconds from start to end")
    ap.add_argument(
        "--split",
        type=float,
        nargs=3,
        default=[0.49, 0.12, 0.39],
        help="shares of the training time: teacher, its outputs, reader",
    )
    ap.add_argument("--layers", type=int, default=30, help="of the teacher; fewer for a trial run")
    ap.add_argument("--teacher-lr", type=float, default=3e-4)
    ap.add_argument("--lr", type=float, default=3e-4)
    ap.add_argument("--dropout", type=float, default=0.1)
    ap.add_argument("--tokens", type=int, default=65536, help="a batch of the teacher's")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--report", type=int, default=200)
    ap.add_argument("--fraction", type=float, default=1.0)
    ap.add_argument("--workers", type=int, default=16)
    ap.add_argument("--compile", action="store_true")
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    tok_path = args.pack / "tokenizer.json"
    bench = evaluate.Bench(json.load(lzma.open(args.pack / "eval.json.xz")), tok_path, args.workers)
    d = prepare(args.pack, args.workers, args.fraction, edits2=True)
    ids = question_ids(tokenizer(tok_path), d["questions"])
    torch.backends.cuda.matmul.allow_tf32 = True
    store = Store(ids, d["contexts"], DEVICE)
    body = Reader(0.0).body.to(DEVICE).eval()
    awaited(args.pack / "init.safetensors")
    load_body(body, str(args.pack / "init.safetensors"))
    vectors = embed_all(body, [c["ids"] for c in d["contexts"][: len(d["passages"])]], DEVICE)
    negs = negatives(d, vectors, embed_all(body, ids, DEVICE))
    bench.place(body, DEVICE)
    report = {"baseline": bench.baseline()}
    log(json.dumps(report["baseline"]))
    awaited(args.gguf)
    g = Gguf(args.gguf)
    g.tokenizer().save(str(args.out / "teacher-tokenizer.json"))
    t_store, t_data, t_lengths = teacher_side(
        d, bench, args.out / "teacher-tokenizer.json", args.workers
    )
    (args.out / "teacher-tokenizer.json").unlink()
    log("teacher's tokens")

    seconds = args.total - (time.time() - T0) - 45
    shares = [seconds * s / sum(args.split) for s in args.split]
    torch.manual_seed(args.seed)
    start = Teacher(args.layers)
    start.load(g)
    teacher = fit(
        args,
        start.to(DEVICE),
        Teacher(args.layers),
        stream(Plan(t_data, negs, *t_lengths, None, 2, 2), args.seed, args.tokens, 0),
        labelled(t_store),
        shares[0],
        args.teacher_lr,
        ema=0.998,
        warm=100,
    )
    del start
    report["teacher"] = bench.measure(teacher, ())
    log("teacher", json.dumps(report["teacher"]))
    (args.out / "metrics.json").write_text(json.dumps(report, indent=1))
    if args.compile:
        for layer in teacher.layers:
            layer.compile(dynamic=True)
    source = stream(Plan(t_data, negs, *t_lengths, None, 2, 3), args.seed + 7, args.tokens, 0)
    batches = remember(teacher, t_store, (b for _, b in source), shares[1])
    torch.manual_seed(args.seed + 1)
    final = fit(
        args,
        fresh_reader(args),
        Reader(0.0),
        remembered(batches, args.seed),
        taught(store),
        args.total - 45 - (time.time() - T0),
        args.lr,
    )
    save({k: v for k, v in final.state_dict().items() if k != "calibration"}, args.out, "reader")
    report["reader"] = bench.measure(final)
    log("reader", json.dumps(report["reader"]))
    (args.out / "metrics.json").write_text(json.dumps(report, indent=1))
    bench.dump(final, args.out / "features.json.xz")
    log("saved")


if __name__ == "__main__":
    main()
