"""Trains the reader on one GPU in minutes. Everything is packed and lives on the device; the schedule follows the clock.

python train.py --pack .data/pack3 --out OUT --total 232 --split 1.0 --compile
"""

import argparse
import itertools
import json
import lzma
import math
import re
import threading
import time
from pathlib import Path

import evaluate
import numpy as np
import torch
import torch._dynamo
import torch.nn.functional as F
from adversarial import move, swap_text
from encode import MAX_SENTENCES, NO_SENTENCE, contexts_of, question_ids, tokenizer
from model import Reader, Store, embed_all, load_body, segment_lse, segment_mean
from safetensors.torch import save_file
from text import normal

SHARE = {
    "medquad": 0.5,
    "pubmedqa": 0.5,
    "qamr": 0.6,
    "boolq": 0.7,
    "docs_heading": 0.7,
    "docs": 0.8,
    "pos_swap": 0.6,
}  # of the rows, each epoch
NO_NEGATIVES = {"qamr", "quac", "doqa", "pos_swap"}  # questions that lean on their passage
POSITIVE, ADVERSARIAL, NEGATIVE, CLOZE, UNLABELLED = 0, 1, 2, 3, 4
T0 = time.time()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def log(*parts):
    print(f"[{time.time() - T0:6.1f}]", *parts, flush=True)


# --- preparation -------------------------------------------------------------------------------------------------------


def without(c: dict, drop) -> dict:
    """A context with a character range cut out."""
    a, b = drop
    keep = np.concatenate(
        [np.ones(c["head"], bool), ~((c["offsets"][:, 0] >= a) & (c["offsets"][:, 0] < b))]
    )
    return {
        **c,
        "ids": c["ids"][keep],
        "sentence": c["sentence"][keep],
        "offsets": c["offsets"][keep[c["head"] :]],
    }


def labels(c: dict, span, ev) -> tuple[int, int, int]:
    """(evidence sentences as bits, start token, end token); tokens count from the passage's first; -1 = none."""
    bits, s, e = 0, -1, -1
    off = c["offsets"]
    if span and len(off):
        inside = np.nonzero((off[:, 0] < span[1]) & (off[:, 1] > span[0]))[0]
        if len(inside) and off[inside[-1], 1] >= span[1] - 1:
            s, e = int(inside[0]), int(inside[-1])
    for a, b in ev or ([span] if span else []):
        inside = (off[:, 0] < b) & (off[:, 1] > a)
        if inside.any():
            number, count = np.unique(c["sentence"][c["head"] :][inside], return_counts=True)
            for n, k in zip(number, count, strict=True):
                if k >= 0.3 * count.sum():
                    bits |= 1 << int(n)
    return bits, s, e


def prepare(
    pack: Path, workers: int, fraction: float = 1.0, skip_edits: bool = False, edits2: bool = False
) -> dict:
    data = json.load(lzma.open(pack / "train.json.xz"))
    passages, rows, edits = data["P"], data["rows"], data["edits"]
    if edits2:
        edits = edits + json.load(lzma.open(pack / "edits2.json.xz"))
    if skip_edits:
        edits, rows = [], [r for r in rows if r["src"] != "cloze"]
        for r in rows:
            r.pop("of", None)
    if fraction < 1:
        rng = np.random.default_rng(0)
        keep_row = rng.random(len(rows)) < fraction
    else:
        keep_row = np.ones(len(rows), bool)
    log(f"{len(passages)} passages, {len(rows)} rows, {len(edits)} edits")
    pairs = [tuple(p) for p in passages]
    parent = {}  # heading rows: the same passage without its own heading
    for i, r in enumerate(rows):
        if keep_row[i] and "t" in r:
            parent[i] = len(pairs)
            pairs.append((r["t"], passages[r["p"]][1]))
    swapped = {}
    for j, e in enumerate(edits):
        if keep_row[e["of"]] and "swap" in e:
            old, new = e["swap"]
            title, text = passages[rows[e["of"]]["p"]]
            changed, moves = swap_text(text, old, new)
            swapped[j] = (len(pairs), moves)
            pairs.append((swap_text(title, old, new)[0], changed))
    contexts = contexts_of(pairs, pack / "tokenizer.json", workers)
    log(f"{len(contexts)} contexts")

    questions, q_index = [], {}

    def ask(q):
        if q not in q_index:
            q_index[q] = len(questions)
            questions.append(q)
        return q_index[q]

    # base: (q, c, bits, s, e, weak, source, row, alternative context)
    base, adv, cloze = [], {}, []
    of_row = {}
    for i, r in enumerate(rows):
        if not keep_row[i]:
            continue
        c = r["p"]
        if r["src"] == "cloze":
            cut = without(contexts[c], r["drop"])
            _, s, e = labels(cut, r["span"], None)
            if s >= 0 and len(cut["ids"]) > 20:
                contexts.append(cut)
                cloze.append((ask(r["q"]), len(contexts) - 1, s, e))
        elif r["y"] == 1:
            bits, s, e = labels(contexts[c], r.get("span"), r.get("ev"))
            weak = not (r.get("ev") or r.get("span"))
            if not weak and bits == 0:
                continue
            of_row[i] = len(base)
            base.append((ask(r["q"]), c, bits, s, e, weak, r["src"], i, parent.get(i, -1)))
        elif "of" not in r:
            adv.setdefault(("alone", i), []).append((ask(r["q"]), c))
    for i, r in enumerate(rows):
        if keep_row[i] and r["src"] in ("adv_q", "adv_cut") and r.get("of") in of_row:
            c = r["p"]
            if r["src"] == "adv_cut":
                contexts.append(without(contexts[c], r["drop"]))
                c = len(contexts) - 1
            adv.setdefault(of_row[r["of"]], []).append((ask(r["q"]), c))
    for j, e in enumerate(edits):
        if not keep_row[e["of"]] or e["of"] not in of_row:
            continue
        b = of_row[e["of"]]
        r = rows[e["of"]]
        if e["src"] == "pos_swap":
            c, moves = swapped[j]
            shift = lambda pair: [move(pair[0], moves), move(pair[1], moves)]
            span = shift(r["span"]) if r.get("span") else None
            bits, s, t = labels(
                contexts[c],
                span,
                [shift(x) for x in r["ev"]] if r.get("ev") else None,
            )
            if bits:
                q = ask(e["q"])
                adv[len(base)] = [(base[b][0], c), (q, base[b][1])]
                base.append((q, c, bits, s, t, False, "pos_swap", e["of"], -1))
        else:
            adv.setdefault(b, []).append(
                (ask(e.get("q", r["q"])), swapped[j][0] if "swap" in e else base[b][1])
            )
    alone = [pair for key, pairs_ in adv.items() if isinstance(key, tuple) for pair in pairs_]
    log(
        f"{len(base)} positives, {sum(len(v) for v in adv.values())} adversarial, {len(alone)} unanswerable alone, {len(cloze)} cloze, {len(questions)} questions"
    )
    return {
        "passages": passages,
        "rows": rows,
        "contexts": contexts,
        "questions": questions,
        "base": base,
        "adv": adv,
        "alone": alone,
        "cloze": cloze,
    }


def negatives(d: dict, vectors_c, vectors_q, depth: int = 40, keep: int = 12) -> list[list[int]]:
    """Per positive: BM25 negatives of the data and near passages by MiniLM, without those that hold the answer."""
    passages, rows = d["passages"], d["rows"]
    flat = [normal(t) for _, t in passages]
    q = torch.tensor([b[0] for b in d["base"]], device=vectors_q.device)
    own = torch.tensor([rows[b[7]]["p"] for b in d["base"]], device=vectors_q.device)
    out = []
    for a in range(0, len(q), 8192):
        sims = vectors_q[q[a : a + 8192]] @ vectors_c.T
        mine = sims.gather(1, own[a : a + 8192, None]).squeeze(1).tolist()
        top = sims.topk(depth, 1)
        for k, (ids, scores) in enumerate(
            zip(top.indices.tolist(), top.values.tolist(), strict=True)
        ):
            b = d["base"][a + k]
            r = rows[b[7]]
            if b[6] in NO_NEGATIVES:
                out.append([])
                continue
            title = passages[r["p"]][0]
            answer = (
                normal(passages[r["p"]][1][r["span"][0] : r["span"][1]]) if r.get("span") else None
            )
            docs = b[6].startswith("docs")
            chosen = []
            for c, s in [*((n, 0.0) for n in r.get("n", [])[:6]), *zip(ids, scores, strict=True)]:
                if (
                    c == r["p"]
                    or c in chosen
                    or (docs and passages[c][0] == title)
                    or flat[c] == flat[r["p"]]
                ):
                    continue
                if answer is not None and len(answer) > 1 and answer in flat[c]:
                    continue
                if answer is None and s > mine[k]:
                    continue
                chosen.append(c)
                if len(chosen) >= keep:
                    break
            out.append(chosen)
    return out


# --- epochs --------------------------------------------------------------------------------------------------------------


def in_batches(items: dict, length: np.ndarray, tokens: int) -> list[dict]:
    """Cuts items in their order into batches of about so many tokens, groups whole."""
    cut = np.cumsum(length) // tokens
    last = np.r_[np.nonzero(np.diff(items["g"]))[0], len(length) - 1]  # ends of groups
    bounds = [0]
    for t in range(1, int(cut[-1]) + 1):
        end = last[np.searchsorted(last, np.searchsorted(cut, t))] + 1
        if end > bounds[-1]:
            bounds.append(int(end))
    return [{k: v[a:b] for k, v in items.items()} for a, b in itertools.pairwise(bounds)]


class Plan:
    """Draws each epoch's items: a positive with adversarial siblings and negatives forms a group."""

    def __init__(self, d, negs, lengths_q, lengths_c, heads, adv_per=2, neg_per=3):
        self.d, self.adv_per, self.neg_per = d, adv_per, neg_per
        csr = lambda lists: (
            np.concatenate([[0], np.cumsum([len(x) for x in lists])]),
            np.array([v for x in lists for v in x], np.int64),
        )
        base = d["base"]
        self.q, self.c, _, self.s, self.e = (
            np.array([b[k] for b in base], np.int64) for k in range(5)
        )
        self.bits = np.array([b[2] for b in base], np.uint64).view(np.int64)
        self.weak = np.array([b[5] for b in base])
        self.alt = np.array([b[8] for b in base])
        self.share = np.array([SHARE.get(b[6], 1.0) for b in base])
        self.adv_off, flat = csr(
            [[q * 10_000_000 + c for q, c in d["adv"].get(i, [])] for i in range(len(base))]
        )
        self.adv_q, self.adv_c = flat // 10_000_000, flat % 10_000_000
        self.neg_off, self.neg = csr(negs)
        self.alone = np.array(d["alone"], np.int64).reshape(-1, 2)
        self.cloze = np.array(d["cloze"], np.int64).reshape(-1, 4)
        self.len_q, self.len_c = lengths_q, lengths_c

    def epoch(self, rng, tokens: int, cloze_share: float = 0.0) -> list[dict]:
        pick = np.nonzero(rng.random(len(self.q)) < self.share)[0]
        n = len(pick)
        alt = (self.alt[pick] >= 0) & (rng.random(n) < 0.6)
        cols = {k: [] for k in ("g", "q", "c", "type", "bits", "s", "e", "weak")}

        def add(g, q, c, kind, bits=0, s=-1, e=-1, weak=0):
            for k, v in zip(cols, (g, q, c, kind, bits, s, e, weak), strict=True):
                cols[k].append(np.broadcast_to(np.asarray(v, np.int64), (len(g),)))

        group = np.arange(n)
        add(
            group,
            self.q[pick],
            np.where(alt, self.alt[pick], self.c[pick]),
            POSITIVE,
            self.bits[pick],
            self.s[pick],
            self.e[pick],
            self.weak[pick],
        )
        for off, kind, per in (
            (self.adv_off, ADVERSARIAL, self.adv_per),
            (self.neg_off, NEGATIVE, self.neg_per),
        ):
            count = off[pick + 1] - off[pick]
            first = (rng.random(n) * count).astype(np.int64)
            for j in range(per):
                ok = count > j
                at = off[pick[ok]] + (first[ok] + j * np.maximum(1, count[ok] // per)) % count[ok]
                if kind == ADVERSARIAL:
                    add(group[ok], self.adv_q[at], self.adv_c[at], kind)
                else:
                    add(group[ok], self.q[pick[ok]], self.neg[at], kind)
        add(n + np.arange(len(self.alone)), self.alone[:, 0], self.alone[:, 1], ADVERSARIAL)
        n += len(self.alone)
        if cloze_share:
            z = self.cloze[rng.random(len(self.cloze)) < cloze_share]
            add(n + np.arange(len(z)), z[:, 0], z[:, 1], CLOZE, 0, z[:, 2], z[:, 3])
            n += len(z)
        items = {k: np.concatenate(v) for k, v in cols.items()}
        rank = rng.permutation(n)[items["g"]]
        order = np.argsort(rank, kind="stable")
        items = {k: v[order] for k, v in items.items()}
        items["g"] = rank[order]
        items["plain"] = (rng.random(len(order)) < 0.25).astype(np.int64)
        return in_batches(items, self.len_q[items["q"]] + self.len_c[items["c"]] + 3, tokens)


def stream(plan: Plan, seed: int, tokens: int, cloze_epochs: int):
    """Batches without end; the next epoch is drawn in a thread."""
    rng, box = np.random.default_rng(seed), {}

    def draw(k):
        box[k] = plan.epoch(rng, tokens, 0.5 if k < cloze_epochs else 0.0)

    draw(0)
    k = 0
    while True:
        ahead = threading.Thread(target=draw, args=(k + 1,))
        ahead.start()
        for batch in box.pop(k):
            yield k, batch
        ahead.join()
        k += 1


# --- loss ----------------------------------------------------------------------------------------------------------------


def outputs(model, store, items):
    """Packed forward; returns a dict with what the losses and the distillation need."""
    b = store.batch(items["q"], items["c"], items["plain"].bool(), items.get("drop"))
    token, first = model(b)
    n = b["n"]
    real = b["number"] != NO_SENTENCE
    where = torch.nonzero(real).squeeze(1)
    slot = b["item"][where] * MAX_SENTENCES + b["number"][where]
    used, sentence = torch.unique(slot, return_inverse=True)
    evidence = segment_mean(token[where, 2], sentence, len(used))
    return {
        "start": token[where, 0],
        "end": token[where, 1],
        "token_item": b["item"][where],
        "token_sentence": sentence,
        "text_at": b["text_at"][where],
        "evidence": evidence,
        "sentence_item": used // MAX_SENTENCES,
        "sentence_number": used % MAX_SENTENCES,
        "answerable": first[:, 0],
        "relevant": first[:, 1],
        "n": n,
    }


def mean(x):
    """Zero where a batch has none of a kind."""
    return x.sum() / max(1, len(x))


def loss_of(model, o, items, teacher=None):
    kind, g = items["type"], items["g"] - items["g"].min()
    n, groups = o["n"], int(g.max()) + 1
    listed = (kind == POSITIVE) | (kind == NEGATIVE)
    pos, adv, neg, cloze = (kind == t for t in (POSITIVE, ADVERSARIAL, NEGATIVE, CLOZE))
    parts = {}
    # evidence: one distribution over all sentences of the positive and the negatives
    si = o["sentence_item"]
    in_list = listed[si]
    is_ev = ((items["bits"][si] >> o["sentence_number"]) & 1).bool() | (items["weak"][si] == 1)
    ev = o["evidence"]
    all_lse = segment_lse(ev[in_list], g[si[in_list]], groups)
    hit = pos[si] & is_ev
    hit_lse = segment_lse(ev[hit], g[si[hit]], groups)
    has = torch.zeros(groups, dtype=torch.bool, device=ev.device).index_fill(0, g[si[hit]], True)
    weak_group = torch.zeros(groups, device=ev.device).index_fill(
        0, g[pos & (items["weak"] == 1)], 0.5
    )
    weight = torch.where(weak_group > 0, weak_group, 1.0)[has]
    parts["evidence"] = ((all_lse - hit_lse)[has] * weight).sum() / weight.sum().clamp_min(1)
    # the best sentence as an answerability score of its own
    item_lse = segment_lse(ev, si, n)
    hit_item = segment_lse(ev[hit], si[hit], n)
    score = torch.where(pos & (items["weak"] == 0), hit_item, item_lse)
    judged = ~cloze & (kind != UNLABELLED)
    scale, bias = model.calibration
    w = torch.where(neg, 0.5, 1.0)[judged]
    target = pos.float()
    parts["calibrated"] = (
        F.binary_cross_entropy_with_logits(
            (scale * score + bias)[judged], target[judged], reduction="none"
        )
        * w
    ).sum() / w.sum().clamp_min(1)
    # spans, over the same list
    ti = o["token_item"]
    for name in ("start", "end"):
        x = o[name]
        use = (listed | cloze)[ti]
        lse = segment_lse(x[use], g[ti[use]], groups)
        gold = (pos | cloze)[ti] & (o["text_at"] == items[name[0]][ti]) & (items["s"][ti] >= 0)
        parts[name] = mean(lse[g[ti[gold]]] - x[gold])
    # answerability
    a = o["answerable"]
    parts["answerable"] = (
        F.binary_cross_entropy_with_logits(a[judged], target[judged], reduction="none") * w
    ).sum() / w.sum().clamp_min(1)
    top = a.new_zeros(groups).index_add(0, g[pos], a[pos])
    top_ev = a.new_zeros(groups).index_add(0, g[pos], score[pos])
    with_pos = torch.zeros(groups, dtype=torch.bool, device=a.device).index_fill(0, g[pos], True)
    pair = adv & with_pos[g]
    parts["pair"] = mean(F.softplus(a[pair] - top[g[pair]]))
    parts["pair_ev"] = mean(F.softplus(score[pair] - top_ev[g[pair]]))
    # relevance
    r = o["relevant"]
    lse = segment_lse(r[listed], g[listed], groups)
    several = torch.zeros(groups, dtype=torch.bool, device=r.device).index_fill(0, g[neg], True)
    chosen = pos & several[g]
    parts["relevant"] = mean(lse[g[chosen]] - r[chosen])
    if teacher is not None:
        t = teacher
        for name in ("start", "end"):
            parts["t_" + name] = segment_kl(t[name], o[name], ti, n)
        gi = g[si]
        parts["t_evidence"] = (
            segment_kl(t["evidence"][in_list], ev[in_list], gi[in_list], groups)
            + F.mse_loss(ev, t["evidence"]) * 0.02
        )
        parts["t_relevant"] = segment_kl(t["relevant"][listed], r[listed], g[listed], groups)
        parts["t_answerable"] = F.binary_cross_entropy_with_logits(
            a[judged], torch.sigmoid(t["answerable"][judged])
        )
    weights = {
        "evidence": 1.0,
        "calibrated": 0.3,
        "start": 0.3,
        "end": 0.3,
        "answerable": 0.5,
        "pair": 0.5,
        "pair_ev": 0.3,
        "relevant": 0.5,
    }
    if teacher is not None:
        weights = {k: 0.3 * v for k, v in weights.items()} | {
            "t_evidence": 1.0,
            "t_start": 0.3,
            "t_end": 0.3,
            "t_answerable": 1.0,
            "t_relevant": 0.5,
        }
    total = sum(w * parts[k] for k, w in weights.items())
    return total, parts


def segment_kl(t, s, segment, n):
    """Cross-entropy of the teacher's distribution by segment, averaged over the segments in use."""
    t_lse, s_lse = segment_lse(t, segment, n), segment_lse(s, segment, n)
    p = torch.exp(t - t_lse[segment])
    used = torch.unique(segment)
    return (p * (s_lse[segment] - s)).sum() / len(used)


# --- training ------------------------------------------------------------------------------------------------------------


def fresh_reader(args) -> Reader:
    """MiniLM's weights with new heads."""
    model = Reader(args.dropout).to(DEVICE)
    load_body(model.body, str(args.pack / "init.safetensors"))
    for layer in (model.token, model.first):
        torch.nn.init.normal_(layer.weight, std=0.02)
        torch.nn.init.zeros_(layer.bias)
    return model


def on_device(batch: dict) -> dict:
    return {
        k: torch.from_numpy(np.ascontiguousarray(v)).to(DEVICE, non_blocking=True)
        for k, v in batch.items()
    }


def labelled(store, teachers=()):
    """The loss of a batch by its labels, and by the mean of the teachers' outputs."""

    def step(model, batch):
        items = on_device(batch)
        target = None
        if teachers:
            with torch.no_grad(), torch.autocast(DEVICE, torch.bfloat16):
                outs = [outputs(t, store, items) for t in teachers]
            target = {
                k: sum(o[k] for o in outs) / len(outs)
                for k in ("start", "end", "evidence", "answerable", "relevant")
            }
        with torch.autocast(DEVICE, torch.bfloat16):
            o = outputs(model, store, items)
        return loss_of(model, o, items, target)

    return step


def fit(args, model, blank, source, step_loss, seconds, lr, ema=0.999, warm=200, keep=None):
    """Trains for so many seconds; returns `blank` (an unused model of the kind) with the moving average of the weights.

    `keep` gets the average every two minutes."""
    average = {k: v.detach().clone() for k, v in model.state_dict().items()}
    now = model.state_dict()
    layers = model.layers if hasattr(model, "layers") else model.body.layers
    if args.compile:
        torch._dynamo.config.suppress_errors = True
        for layer in layers:
            layer.compile(dynamic=True)
    inner = {id(p) for layer in layers for p in layer.parameters()}
    inner |= {
        id(p) for m in model.modules() if isinstance(m, torch.nn.Embedding) for p in m.parameters()
    }
    body = [p for n, p in model.named_parameters() if id(p) in inner or n.startswith("body")]
    known = {id(p) for p in body}
    groups = [
        {"params": [p for p in body if p.ndim > 1], "weight_decay": 0.01, "top": lr},
        {"params": [p for p in body if p.ndim == 1], "weight_decay": 0.0, "top": lr},
        {
            "params": [p for p in model.parameters() if id(p) not in known],
            "weight_decay": 0.0,
            "top": 2 * lr,
        },
    ]
    opt = torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.98), fused=DEVICE == "cuda")
    begin, step, seen, sums, epoch = time.time(), 0, 0, {}, 0
    kept = begin
    while True:
        progress = (time.time() - begin) / max(seconds, 1.0)
        if progress >= 1:
            break
        epoch, batch = next(source)
        rate = min(1.0, step / warm) * 0.5 * (1 + math.cos(math.pi * progress))
        for grp in opt.param_groups:
            grp["lr"] = grp["top"] * rate
        loss, parts = step_loss(model, batch)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        step += 1
        seen += len(batch["q"])
        decay = min(ema, step / (step + 10))
        with torch.no_grad():
            torch._foreach_lerp_(list(average.values()), [now[k] for k in average], 1 - decay)
        for k, v in parts.items():
            sums[k] = sums.get(k, 0) + v.detach()
        if keep and time.time() - kept > 120:
            keep(average)
            kept = time.time()
        if step % args.report == 0:
            took = time.time() - begin
            log(
                f"step {step} epoch {epoch} {took:.0f}s {seen / took:.0f} items/s",
                " ".join(f"{k} {float(v) / args.report:.3f}" for k, v in sums.items()),
            )
            sums = {}
    log(f"done: {step} steps, epoch {epoch}, {seen} items, {seen / seconds:.0f} items/s")
    final = blank.to(DEVICE).eval()
    final.load_state_dict(average)
    return final


def save(state: dict, out: Path, name: str, limit: int = 15_500_000) -> None:
    """fp16, in files under the limit."""
    parts, size = [{}], 0
    for k, v in state.items():
        v = v.half().cpu().contiguous()
        pieces = (
            [(k, v)]
            if v.nbytes <= limit
            else [
                (f"{k}@{i}", p.contiguous().clone())
                for i, p in enumerate(v.chunk(math.ceil(v.nbytes / limit)))
            ]
        )
        for key, p in pieces:
            if size + p.nbytes > limit:
                parts.append({})
                size = 0
            parts[-1][key] = p
            size += p.nbytes
    for i, part in enumerate(parts):
        save_file(part, out / f"{name}-{i}.safetensors")


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--pack", type=Path, default=Path(".data/pack3"))
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument(
        "--total",
        type=float,
        default=530,
        help="seconds from the start to the end of the last training",
    )
    ap.add_argument(
        "--split",
        type=float,
        nargs="+",
        default=[1.0],
        help="one model per value, as shares of the training time; the last one distils from the others with --distil",
    )
    ap.add_argument("--compile", action="store_true")
    ap.add_argument("--distil", action="store_true")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--lr", type=float, default=2.5e-4)
    ap.add_argument("--dropout", type=float, default=0.1)
    ap.add_argument("--tokens", type=int, default=131072)
    ap.add_argument("--cloze-epochs", type=int, default=1)
    ap.add_argument("--adv", type=int, default=2)
    ap.add_argument("--neg", type=int, default=3)
    ap.add_argument(
        "--edits2",
        action="store_true",
        help="add the second family of adversarial questions (adversarial2.py); not in the shipped model",
    )
    ap.add_argument("--report", type=int, default=200)
    ap.add_argument("--fraction", type=float, default=1.0)
    ap.add_argument("--workers", type=int, default=16)
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    bench = evaluate.Bench(
        json.load(lzma.open(args.pack / "eval.json.xz")), args.pack / "tokenizer.json", args.workers
    )
    d = prepare(args.pack, args.workers, args.fraction, edits2=args.edits2)
    tok = tokenizer(args.pack / "tokenizer.json")
    ids = question_ids(tok, d["questions"])
    log("device")
    torch.backends.cuda.matmul.allow_tf32 = True
    store = Store(ids, d["contexts"], DEVICE)
    body = Reader(0.0).body.to(DEVICE).eval()
    load_body(body, str(args.pack / "init.safetensors"))
    vc = embed_all(body, [c["ids"] for c in d["contexts"][: len(d["passages"])]], DEVICE)
    vq = embed_all(body, ids, DEVICE)
    log("embedded")
    negs = negatives(d, vc, vq)
    log("negatives", sum(len(x) for x in negs))
    lengths = np.array([len(x) for x in ids]), np.array([len(c["ids"]) for c in d["contexts"]])
    plan = Plan(d, negs, *lengths, None, args.adv, args.neg)
    bench.place(body, DEVICE)
    log("evaluation sets retrieved")
    models, report = [], {"baseline": bench.baseline()}
    log(json.dumps(report["baseline"]))
    training = args.total - (time.time() - T0) - 15 * (len(args.split) - 1)
    for i, share in enumerate(args.split):
        last = i == len(args.split) - 1
        seconds = training * share / sum(args.split)
        if args.distil and last:
            init = {
                k: sum(m.state_dict()[k] for m in models) / len(models)
                for k in models[0].state_dict()
            }
            start = Reader(args.dropout).to(DEVICE)
            start.load_state_dict(init)
            step, lr = labelled(store, models), args.lr * 0.8
        else:
            torch.manual_seed(args.seed + i)
            start, step, lr = fresh_reader(args), labelled(store), args.lr
        source = stream(plan, args.seed + i, args.tokens, args.cloze_epochs)
        model = fit(args, start, Reader(0.0), source, step, seconds, lr)
        save(
            {k: v for k, v in model.state_dict().items() if k != "calibration"}, args.out, "reader"
        )
        report[f"model{i}"] = bench.measure(model)
        log(json.dumps(report[f"model{i}"]))
        models.append(model)
        (args.out / "metrics.json").write_text(json.dumps(report, indent=1))
    (args.out / "metrics.json").write_text(json.dumps(report, indent=1))
    final = models[-1]
    if len(models) > 1:
        soup = Reader(0.0).to(DEVICE).eval()
        soup.load_state_dict(
            {k: sum(m.state_dict()[k] for m in models) / len(models) for k in final.state_dict()}
        )
        report["soup"] = bench.measure(soup)
        log("soup", json.dumps(report["soup"]))
        report["ensemble"] = bench.measure(models)
        log("ensemble", json.dumps(report["ensemble"]))
        if not args.distil and evaluate.overall(report["soup"]) > evaluate.overall(
            report[f"model{len(models) - 1}"]
        ):
            final = soup
    save({k: v for k, v in final.state_dict().items() if k != "calibration"}, args.out, "reader")
    bench.dump(final, args.out / "features.json.xz")
    (args.out / "metrics.json").write_text(json.dumps(report, indent=1))
    log("saved", re.sub(r"\s+", " ", str([p.name for p in args.out.iterdir()])))


if __name__ == "__main__":
    main()
