"""A larger teacher (teacher.py) trained on the labels; then the reader trained on the mean of its and a first reader's outputs.

    python questions.py --pack .data/pack3 --gguf SmolLM2-135M-Instruct.Q4_1.gguf --out made.json.xz
    python distil.py --pack .data/pack3 --mpnet model.safetensors --made made.json.xz --first FIRST --out OUT --compile

One GPU, 27 minutes. The outputs are computed once for a fixed set of batches and kept on the device; the reader goes over them
many times. A trained teacher is kept in OUT, so that a run that was broken off goes on from there."""

import argparse
import itertools
import json
import lzma
import time
from pathlib import Path

import evaluate
import numpy as np
import torch
import torch.nn.functional as F
from encode import MAX_SENTENCES, question_ids, tokenizer
from made import Made, judge, labelled_by, place_of_target, shown, with_made
from model import Reader, Store, embed_all, load_body, segment_lse, unpacked
from spans import best_span, span_f1
from teacher import Teacher
from train import (
    CLOZE,
    DEVICE,
    NEGATIVE,
    POSITIVE,
    T0,
    UNLABELLED,
    Plan,
    fit,
    labelled,
    log,
    loss_of,
    negatives,
    on_device,
    outputs,
    prepare,
    save,
    segment_kl,
    stream,
)

ABSENT = -6e4
HARD = 0.12  # weight of the labels beside the teacher's outputs


def by_sentence(o: dict) -> tuple[torch.Tensor, torch.Tensor]:
    """How much of the start's and of the end's weight a sentence holds (log-sum-exp)."""
    n = len(o["evidence"])
    return tuple(segment_lse(o[k], o["token_sentence"], n) for k in ("start", "end"))


# --- the teachers' outputs ---------------------------------------------------------------------------------------------


def by_number(o: dict) -> torch.Tensor:
    """Evidence, start and end as [3, items, sentences]."""
    dense = torch.full((3, o["n"], MAX_SENTENCES), ABSENT, device=DEVICE)
    for k, x in enumerate((o["evidence"], *by_sentence(o))):
        dense[k, o["sentence_item"], o["sentence_number"]] = x.float()
    return dense


@torch.no_grad()
def remember(teacher, reader, store, batches, until: float, share: float, made: bool = False):
    """Batches with the mean of the two teachers' outputs, as many as the time allows.

    Of made questions the mean decides on labels, and the teacher's span is one where it does."""
    out, items_done, agreed, groups = [], 0, 0, 0
    for batch in batches:
        if time.time() - T0 > until:
            break
        items = on_device(batch)
        items.setdefault("drop", torch.full_like(items["g"], -1))
        with torch.autocast(DEVICE, torch.bfloat16):
            a, b = outputs(teacher, store, items), outputs(reader, store, items)
        x, y = by_number(a), by_number(b)
        mean = share * x + (1 - share) * y
        mean[(x <= ABSENT / 2) | (y <= ABSENT / 2)] = ABSENT
        first = share * torch.stack([a["answerable"], a["relevant"]], 1)
        first += (1 - share) * torch.stack([b["answerable"], b["relevant"]], 1)
        if made:
            o = {**b, "evidence": mean[0, b["sentence_item"], b["sentence_number"]]}
            items["type"] = labelled_by(place_of_target(o, items), first[:, 0], items, 0)
            own = items["type"] == POSITIVE
            s, e = best_span(a, items["bits"])
            items["s"], items["e"] = (torch.where(own, v, -1) for v in (s, e))
            agreed += int(own.sum())
            groups += int(items["g"].max() - items["g"].min()) + 1
        items |= {"t_sentences": mean.half(), "t_first": first}
        out.append(items)
        items_done += b["n"]
    log(
        f"teachers' outputs of {items_done} items in {len(out)} batches",
        f"{agreed} of {groups} agree" if made else "",
    )
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
        order = rng.permutation(len(batches))  # joined two by two
        for i in range(0, len(order) - 1, 2):
            yield epoch, joined(batches[order[i]], batches[order[i + 1]])
        epoch += 1


def taught(store):
    """The loss of a remembered batch: the teacher's outputs, and the labels at an eighth of their weight (spans at .8 of it)."""

    def step(model, items):
        with torch.autocast(DEVICE, torch.bfloat16):
            o = outputs(model, store, items)
        total, parts = loss_of(model, o, items)
        kind, g = items["type"], items["g"] - items["g"].min()
        groups = int(g.max()) + 1
        listed = (kind == POSITIVE) | (kind == NEGATIVE) | (kind == UNLABELLED)
        listed &= items["drop"] < 0
        si = o["sentence_item"]
        target = items["t_sentences"][:, si, o["sentence_number"]].float()
        known = target[0] > ABSENT / 2
        use = listed[si] & known
        mine = (o["evidence"], *by_sentence(o))
        loss = HARD * total + 0.3 * (0.8 - HARD) * (parts["start"] + parts["end"])
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


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    """Of a folder that train.py wrote, of an exported graph, or of one file with rows in 8 bits."""
    from export_onnx import load, of_graph

    if path.is_dir() or path.suffix == ".onnx":
        read = load if path.is_dir() else of_graph
        return {k: torch.from_numpy(v) for k, v in read(path).items()}
    return unpacked(str(path))


def awaited(path: Path) -> Path:
    """Large inputs may still be on their way while the rows are tokenised."""
    while not path.exists():
        time.sleep(0.5)
    return path


def arguments() -> argparse.Namespace:
    ap = argparse.ArgumentParser()
    ap.add_argument("--pack", type=Path, default=Path(".data/pack3"))
    ap.add_argument("--mpnet", type=Path, required=True, help="weights of all-mpnet-base-v2")
    ap.add_argument("--made", type=Path, required=True, help="of questions.py")
    ap.add_argument("--first", type=Path, required=True, help="weights of the first reader")
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument(
        "--until",
        type=Path,
        help="a file with the second, since 1970, at which the reader is to be ready; else in 1500 s",
    )
    ap.add_argument(
        "--split",
        type=float,
        nargs=3,
        default=[0.38, 0.24, 0.38],
        help="of that time: the teacher's training, its outputs, the reader's training",
    )
    ap.add_argument(
        "--share", type=float, default=0.75, help="the teacher's, against the first reader"
    )
    ap.add_argument("--made-share", type=float, default=0.5, help="of the outputs' time")
    ap.add_argument("--layers", type=int, default=12, help="of the teacher; fewer for a trial run")
    ap.add_argument("--teacher-lr", type=float, default=1e-4)
    ap.add_argument("--lr", type=float, default=2.5e-4)
    ap.add_argument("--dropout", type=float, default=0.15)
    ap.add_argument("--tokens", type=int, default=65536, help="a batch of the teacher's")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--report", type=int, default=200)
    ap.add_argument("--workers", type=int, default=16)
    ap.add_argument("--compile", action="store_true")
    return ap.parse_args()


class Measured:
    """The measured sets; what it finds goes to the log and to metrics.json."""

    def __init__(self, args):
        sets = json.load(lzma.open(args.pack / "eval.json.xz"))
        self.bench = evaluate.Bench(sets, args.pack / "tokenizer.json", args.workers)
        self.out, self.report = args.out, {}

    def __call__(self, name: str, model, *books) -> None:
        b = self.bench
        spans = span_f1(model, b.store, b.contexts, b.sets["squad2"], *b.first["squad2"])
        self.report[name] = spans | b.measure(model, *books)
        log(name, json.dumps(self.report[name]))
        (self.out / "metrics.json").write_text(json.dumps(self.report, indent=1))


def main() -> None:
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    tok = tokenizer(args.pack / "tokenizer.json")
    d = prepare(args.pack, args.workers, edits2=True)
    measure = Measured(args)
    log("measured sets")
    ids = question_ids(tok, d["questions"])
    torch.backends.cuda.matmul.allow_tf32 = True
    store = Store(ids, d["contexts"], DEVICE)
    first = Reader(0.0).to(DEVICE).eval()
    first.load_state_dict(weights_of(awaited(args.first)), strict=False)
    body = Reader(0.0).body.to(DEVICE).eval()
    load_body(body, str(awaited(args.pack / "init.safetensors")))
    vectors = embed_all(body, [c["ids"] for c in d["contexts"][: len(d["passages"])]], DEVICE)
    negs = negatives(d, vectors, embed_all(body, ids, DEVICE))
    log("negatives")
    measure.bench.place(body, DEVICE)
    measure("first", first)
    measure.bench.dump(first, args.out / "features.json.xz")
    lengths = np.array([len(x) for x in ids]), np.array([len(c["ids"]) for c in d["contexts"]])
    made = Made(awaited(args.made), store, shown(d["contexts"]), tok, body, vectors)
    good = judge(made, first, store, lengths[1], args.tokens)

    def epochs(seed, only=None):
        rng = np.random.default_rng(seed)
        for _ in itertools.count():
            yield from made.batches(rng, lengths[1], args.tokens, only)

    torch.manual_seed(args.seed)
    kept = args.out / "teacher.pt"
    end = float(awaited(args.until).read_text()) - T0 if args.until else 1500.0
    begin = time.time() - T0
    shares = (
        np.cumsum(args.split) if not kept.exists() else np.array([0.0, *args.split[1:]]).cumsum()
    )
    until = begin + (end - begin) * shares / shares[-1]
    log("until", until.round(1).tolist())
    plan = lambda adv, neg: Plan(d, negs, *lengths, None, adv, neg)
    if kept.exists():
        teacher = Teacher(args.layers).to(DEVICE).eval()
        teacher.load_state_dict(torch.load(kept))
    else:
        start = Teacher(args.layers, 0.1)
        start.load(str(awaited(args.mpnet)))
        teacher = fit(
            args,
            start.to(DEVICE),
            Teacher(args.layers),
            with_made(stream(plan(2, 2), args.seed, args.tokens, 0), epochs(args.seed + 3, good)),
            labelled(store),
            until[0] - (time.time() - T0),
            args.teacher_lr,
            ema=0.997,
            warm=200,
        )
        del start
        torch.save(teacher.state_dict(), kept)
        log("teacher kept")
    measure("teacher", teacher, ())
    if args.compile:
        for layer in teacher.layers:
            layer.compile(dynamic=True)
    models, begin = (teacher, first, store), time.time() - T0
    half = begin + args.made_share * (until[1] - begin)
    rng = np.random.default_rng(args.seed + 9)  # each made question once
    source = made.batches(rng, lengths[1], args.tokens, cuts=0.5)
    batches = remember(*models, source, half, args.share, True)
    source = (b for _, b in stream(plan(2, 3), args.seed + 7, args.tokens, 0))
    batches += remember(*models, source, until[1], args.share)
    del teacher, models
    torch.manual_seed(args.seed + 1)
    start = Reader(args.dropout).to(DEVICE)
    start.load_state_dict(first.state_dict())
    keep = lambda state: save(
        {k: v for k, v in state.items() if k != "calibration"}, args.out, "reader"
    )
    final = fit(
        args,
        start,
        Reader(0.0),
        remembered(batches, args.seed),
        taught(store),
        until[2] - (time.time() - T0),
        args.lr,
        ema=0.998,
        warm=100,
        keep=keep,
    )
    keep(final.state_dict())
    log("saved")
    (args.out / "done").write_text("")
    measure("reader", final)
    for share in (0.5, 0.3, 0.75):
        a, b = first.state_dict(), final.state_dict()
        mixed = Reader(0.0).to(DEVICE).eval()
        mixed.load_state_dict({k: (1 - share) * a[k] + share * b[k] for k in a})
        measure(f"{share} of it", mixed)


if __name__ == "__main__":
    main()
