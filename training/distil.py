"""A larger teacher (teacher.py) trained on the labels; then the reader trained on the mean of its and a first reader's outputs.

    python questions.py --pack .data/pack3 --gguf SmolLM2-135M-Instruct.Q4_1.gguf --out made.json.xz &
    python distil.py --pack .data/pack3 --gguf SmolLM2-135M-Instruct.Q4_1.gguf --made made.json.xz --first FIRST --out OUT --compile

One GPU, 24 minutes. The outputs are computed once for a fixed set of batches and kept on the device; the reader goes over them
many times. The made questions join the teacher's training as soon as they are there."""

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
from encode import MAX_SENTENCES, contexts_of, question_ids, tokenizer
from model import Reader, Store, embed_all, load_body, segment_lse, unpacked
from teacher import BEGIN, END, Gguf, Teacher
from train import (
    CLOZE,
    DEVICE,
    NEGATIVE,
    POSITIVE,
    T0,
    UNLABELLED,
    Plan,
    fit,
    in_batches,
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


def teacher_tokens(d: dict, tok_path: Path, workers: int):
    """The same questions and contexts in the teacher's tokens."""
    contexts = contexts_of(d["pairs"], tok_path, workers, LONGEST)
    contexts += [without(contexts[c], drop) for c, drop in d["cuts"]]
    return question_ids(tokenizer(tok_path), d["questions"]), contexts


def teacher_side(d: dict, ids, contexts):
    """Store, data with the teacher's spans, lengths."""
    base = []
    for b in d["base"]:
        _, s, e = labels(contexts[b[1]], b[9], None)
        base.append((*b[:3], s, e, *b[5:]))
    lengths = np.array([len(x) for x in ids]), np.array([len(c["ids"]) for c in contexts])
    return Store(ids, contexts, DEVICE, BEGIN, END), {**d, "base": base}, lengths


def by_sentence(o: dict) -> tuple[torch.Tensor, torch.Tensor]:
    """How much of the start's and of the end's weight a sentence holds (log-sum-exp)."""
    n = len(o["evidence"])
    return tuple(segment_lse(o[k], o["token_sentence"], n) for k in ("start", "end"))


# --- questions made by questions.py ------------------------------------------------------------------------------------


class Made:
    """Groups of a made question: its passage and three near ones, with what the first reader thinks of them."""

    def __init__(self, path: Path, d: dict, stores, toks, body, vectors, near: int = 10):
        rows = json.load(lzma.open(path))
        count = np.array([min(len(c["spans"]), MAX_SENTENCES) for c in d["contexts"]])
        self.rows = [r for r in rows if r[1] < count[r[0]]]
        ids = [question_ids(tok, [r[2] for r in self.rows]) for tok in toks]
        first = {store.ask(x) for store, x in zip(stores, ids, strict=True)}
        assert len(first) == 1
        self.first = first.pop()
        self.lengths = [np.array([len(x) for x in i]) for i in ids]
        own = torch.tensor([r[0] for r in self.rows], device=DEVICE)
        v, closest = embed_all(body, ids[0], DEVICE), []
        for a in range(0, len(own), 8192):
            sims = v[a : a + 8192] @ vectors.T
            sims.scatter_(1, own[a : a + 8192, None], -1)
            closest.append(sims.topk(near, 1).indices.cpu().numpy())
        self.near = np.concatenate(closest)
        self.bits = np.array([1 << r[1] for r in self.rows], np.uint64).view(np.int64)
        self.own = own.cpu().numpy()
        self.kind = np.full((len(self.rows), 4), UNLABELLED)

    def batches(self, rng, lengths_c, side: int, tokens: int, only=None, negatives: int = 3):
        """An epoch; negatives are drawn from the near passages, by group the same ones each time."""
        pick = rng.permutation(len(self.rows) if only is None else only)
        n, wide = len(pick), 1 + negatives
        c = np.concatenate([self.own[pick, None], self.near[pick][:, [1, 4, 8][:negatives]]], 1)
        first = np.arange(wide) == 0
        items = {
            "g": np.repeat(np.arange(n), wide),
            "q": np.repeat(self.first + pick, wide),
            "c": c.reshape(-1),
            "type": self.kind[pick][:, :wide].reshape(-1),
            "bits": (self.bits[pick, None] * first).reshape(-1),
            **{k: np.full(n * wide, -1) for k in ("s", "e")},
            "weak": np.zeros(n * wide, np.int64),
            "plain": (rng.random(n * wide) < 0.25).astype(np.int64),
        }
        length = np.repeat(self.lengths[side][pick], wide) + lengths_c[items["c"]] + 3
        return in_batches({k: v.astype(np.int64) for k, v in items.items()}, length, tokens)


def place_of_target(o: dict, items: dict) -> torch.Tensor:
    """By group: how many sentences of its passages stand above the one that was asked for."""
    g = items["g"] - items["g"].min()
    si, ev = o["sentence_item"], o["evidence"]
    hit = ((items["bits"][si] >> o["sentence_number"]) & 1).bool()
    top = ev.new_full((int(g.max()) + 1,), 1e4)
    top[g[si[hit]]] = ev[hit]
    missed = top == 1e4
    above = torch.zeros_like(top).index_add(0, g[si], (ev > top[g[si]]).float())
    return torch.where(missed, 1e4, above)


def labelled_by(place, answerable, items: dict, within: int) -> torch.Tensor:
    """Kinds of the items: labelled where the sentence stands high enough; near passages that may answer too stay without a label."""
    g = items["g"] - items["g"].min()
    first = torch.ones_like(g, dtype=torch.bool)
    first[1:] = g[1:] != g[:-1]
    agreed = (place <= within)[g]
    own = answerable.new_zeros(len(place)).index_add(0, g[first], answerable[first])
    other = agreed & ~first & (answerable < own[g] - 1)
    kind = torch.full_like(items["type"], UNLABELLED)
    kind[agreed & first] = POSITIVE
    kind[other] = NEGATIVE
    return kind


@torch.no_grad()
def judge(made: Made, reader, store, lengths_c, tokens: int) -> np.ndarray:
    """Lets the first reader set the kinds; returns the groups that got labels."""
    rng = np.random.default_rng(0)
    for batch in made.batches(rng, lengths_c, 0, tokens):
        items = on_device(batch)
        with torch.autocast(DEVICE, torch.bfloat16):
            o = outputs(reader, store, items)
        kind = labelled_by(place_of_target(o, items), o["answerable"], items, 1)
        made.kind[batch["q"][::4] - made.first] = kind.view(-1, 4).cpu().numpy()
    good = np.nonzero(made.kind[:, 0] == POSITIVE)[0]
    log(f"{len(good)} of {len(made.rows)} made questions agree with the first reader")
    return good


def with_made(source, make, every: int = 2):
    """The labelled batches; once questions have been made, one batch of those after every two."""
    extra = None
    for k, (epoch, batch) in enumerate(source, 1):
        yield epoch, batch
        if k % every == 0:
            extra = extra or make()
            if extra:
                yield epoch, next(extra)


# --- the teachers' outputs ---------------------------------------------------------------------------------------------


def by_number(o: dict) -> torch.Tensor:
    """Evidence, start and end as [3, items, sentences]."""
    dense = torch.full((3, o["n"], MAX_SENTENCES), ABSENT, device=DEVICE)
    for k, x in enumerate((o["evidence"], *by_sentence(o))):
        dense[k, o["sentence_item"], o["sentence_number"]] = x.float()
    return dense


@torch.no_grad()
def remember(teacher, t_store, reader, store, batches, until: float, share: float, made=False):
    """Batches with the mean of the two teachers' outputs, as many as the time allows."""
    out, items_done, agreed, groups = [], 0, 0, 0
    for batch in batches:
        if time.time() - T0 > until:
            break
        items = on_device(batch)
        with torch.autocast(DEVICE, torch.bfloat16):
            a, b = outputs(teacher, t_store, items), outputs(reader, store, items)
        x, y = by_number(a), by_number(b)
        mean = share * x + (1 - share) * y
        mean[(x <= ABSENT / 2) | (y <= ABSENT / 2)] = ABSENT
        first = share * torch.stack([a["answerable"], a["relevant"]], 1)
        first += (1 - share) * torch.stack([b["answerable"], b["relevant"]], 1)
        if made:
            o = {**b, "evidence": mean[0, b["sentence_item"], b["sentence_number"]]}
            items["type"] = labelled_by(place_of_target(o, items), first[:, 0], items, 0)
            agreed += int((items["type"] == POSITIVE).sum())
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
    """The loss of a remembered batch: the teacher's outputs, and the labels at a third of their weight (spans at all of it)."""

    def step(model, items):
        with torch.autocast(DEVICE, torch.bfloat16):
            o = outputs(model, store, items)
        total, parts = loss_of(model, o, items)
        kind, g = items["type"], items["g"] - items["g"].min()
        groups = int(g.max()) + 1
        listed = (kind == POSITIVE) | (kind == NEGATIVE) | (kind == UNLABELLED)
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


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    """Of a folder that train.py wrote, or of one file with rows in 8 bits."""
    if path.is_dir():
        from export_onnx import load

        return {k: torch.from_numpy(v) for k, v in load(path).items()}
    return unpacked(str(path))


def awaited(path: Path) -> None:
    """Large inputs may still be on their way while the rows are tokenised."""
    while not path.exists():
        time.sleep(1)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--pack", type=Path, default=Path(".data/pack3"))
    ap.add_argument("--gguf", type=Path, required=True)
    ap.add_argument("--made", type=Path, required=True, help="of questions.py; may come later")
    ap.add_argument("--first", type=Path, required=True, help="weights of the first reader")
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument(
        "--until",
        type=float,
        nargs=3,
        default=[640, 810, 1400],
        help="seconds from the start: end of the teacher's training, of its outputs, of the reader's training",
    )
    ap.add_argument(
        "--share", type=float, default=0.65, help="the teacher's, against the first reader"
    )
    ap.add_argument(
        "--unmeasured", action="store_true", help="skip the measured sets: check.py later"
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
    tok = tokenizer(tok_path)
    bench = None
    if not args.unmeasured:
        sets = json.load(lzma.open(args.pack / "eval.json.xz"))
        bench = evaluate.Bench(sets, tok_path, args.workers)
    d = prepare(args.pack, args.workers, args.fraction, edits2=True)
    awaited(args.gguf)
    g = Gguf(args.gguf)
    t_path = args.out / "teacher-tokenizer.json"
    g.tokenizer().save(str(t_path))
    t_tok = tokenizer(t_path)
    t_ids, t_contexts = teacher_tokens(d, t_path, args.workers)
    if bench:
        b_ids = question_ids(t_tok, bench.questions)
        b_contexts = contexts_of(bench.pairs, t_path, args.workers, LONGEST)
    log("teacher's tokens")
    ids = question_ids(tok, d["questions"])
    torch.backends.cuda.matmul.allow_tf32 = True
    store = Store(ids, d["contexts"], DEVICE)
    body = Reader(0.0).body.to(DEVICE).eval()
    awaited(args.pack / "init.safetensors")
    load_body(body, str(args.pack / "init.safetensors"))
    vectors = embed_all(body, [c["ids"] for c in d["contexts"][: len(d["passages"])]], DEVICE)
    negs = negatives(d, vectors, embed_all(body, ids, DEVICE))
    log("negatives")
    t_store, t_data, t_lengths = teacher_side(d, t_ids, t_contexts)
    awaited(args.first)
    first = Reader(0.0).to(DEVICE).eval()
    first.load_state_dict(weights_of(args.first), strict=False)
    report = {}

    def measure(name, model, *books):
        if bench:
            report[name] = bench.measure(model, *books)
            log(name, json.dumps(report[name]))
            (args.out / "metrics.json").write_text(json.dumps(report, indent=1))

    if bench:
        bench.place(body, DEVICE)
        bench.stores["Teacher"] = Store(b_ids, b_contexts, DEVICE, BEGIN, END)
    measure("first", first, ())

    made, lengths_c = None, np.array([len(c["ids"]) for c in d["contexts"]])

    def make():
        nonlocal made
        if not args.made.exists():
            return None
        made = Made(args.made, d, (store, t_store), (tok, t_tok), body, vectors)
        good = judge(made, first, store, lengths_c, args.tokens)
        rng = np.random.default_rng(args.seed + 3)
        return (
            batch
            for _ in itertools.count()
            for batch in made.batches(rng, t_lengths[1], 1, args.tokens, good)
        )

    torch.manual_seed(args.seed)
    start = Teacher(args.layers)
    start.load(g)
    plan = lambda data, adv, neg: Plan(data, negs, *t_lengths, None, adv, neg)
    teacher = fit(
        args,
        start.to(DEVICE),
        Teacher(args.layers),
        with_made(stream(plan(t_data, 2, 2), args.seed, args.tokens, 0), make),
        labelled(t_store),
        args.until[0] - (time.time() - T0),
        args.teacher_lr,
        ema=0.997,
        warm=60,
    )
    del start
    measure("teacher", teacher, ())
    if args.compile:
        for layer in teacher.layers:
            layer.compile(dynamic=True)
    if made is None:
        make()
    models, begin = (teacher, t_store, first, store), time.time() - T0
    batches = []
    if made:
        rng = np.random.default_rng(args.seed + 9)
        source = made.batches(rng, t_lengths[1], 1, args.tokens, negatives=2)
        half = begin + 0.45 * (args.until[1] - begin)
        batches += remember(*models, source, half, args.share, made=True)
    source = (b for _, b in stream(plan(d, 2, 3), args.seed + 7, args.tokens, 0))
    batches += remember(*models, source, args.until[1], args.share)
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
        args.until[2] - (time.time() - T0),
        args.lr,
        ema=0.997,
        warm=60,
        keep=keep,
    )
    keep(final.state_dict())
    log("saved")
    measure("reader", final)
    if bench:
        bench.dump(final, args.out / "features.json.xz")


if __name__ == "__main__":
    main()
