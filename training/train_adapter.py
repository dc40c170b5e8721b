"""Low-rank adapters of MiniLM for documentation retrieval: for the question alone, or for both sides.

    python train_adapter.py --data .data/embedder2 --init .data/pack3/init.safetensors --out OUT --scale 1.0

An adapter for the question alone leaves the documents' vectors as they are. It is trained against all passages at once, their
vectors computed once, and may be trained against the hybrid score: cosine plus a share of BM25 (over word pieces here).
"""

import argparse
import json
import lzma
import math
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from model import HIDDEN, Body, load_body
from tokenizers import Tokenizer
from torch import nn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BOOKS = ("ray", "rust", "anthropic", "robolearn", "agent", "scifact")
LEXICAL = 0.3  # of BM25 beside the cosine, as the product ranks
SHARP = 25.0  # of the softmax
TWIN = 0.92  # passages as near as that say the same: no negatives of each other
T0 = time.time()


def log(*parts):
    print(f"[{time.time() - T0:6.1f}]", *parts, flush=True)


# --- texts ---------------------------------------------------------------------------------------------------------------


class Texts:
    """Token ids of many texts as one flat tensor; batches are packed by indexing."""

    def __init__(self, texts, tok, longest):
        ids = [e.ids[: longest - 2] for e in tok.encode_batch(texts, add_special_tokens=False)]
        ids = [[101, *i, 102] for i in ids]
        flat = np.concatenate([np.array(i, np.int32) for i in ids])
        self.size = np.array([len(i) for i in ids])
        self.ids = torch.from_numpy(flat).to(DEVICE)
        start = np.concatenate([[0], np.cumsum(self.size)])
        self.start = torch.from_numpy(start).to(DEVICE)
        self.length = torch.from_numpy(self.size).to(DEVICE)

    def __len__(self):
        return len(self.size)

    def batch(self, rows):
        rows = torch.as_tensor(rows, device=DEVICE)
        length = self.length[rows]
        cu = F.pad(torch.cumsum(length, 0), (1, 0))
        item = torch.repeat_interleave(torch.arange(len(rows), device=DEVICE), length)
        position = torch.arange(len(item), device=DEVICE) - cu[:-1][item]
        ids = self.ids[self.start[rows][item] + position].long()
        return {
            "ids": ids,
            "position": position,
            "kind": torch.zeros_like(ids),
            "cu": cu.int(),
            "item": item,
            "length": length,
            "longest": int(length.max()),
        }

    def terms(self, binary, vocabulary=30522, k1=1.2, b=0.75):
        """Term counts as a sparse matrix: 0/1 for questions, BM25's saturated ones for passages."""
        row = torch.repeat_interleave(torch.arange(len(self), device=DEVICE), self.length)
        keep = self.ids > 1012  # word pieces without punctuation, letters and special tokens
        at = torch.stack([row[keep], self.ids[keep].long()])
        ones = torch.ones(at.shape[1], device=DEVICE)
        m = torch.sparse_coo_tensor(at, ones, (len(self), vocabulary)).coalesce()
        count, at = m.values(), m.indices()
        if binary:
            return at, torch.ones_like(count)
        size = torch.zeros(len(self), device=DEVICE).index_add(0, at[0], count)
        norm = k1 * (1 - b + b * size[at[0]] / size.mean())
        return at, count * (k1 + 1) / (count + norm)


class Lexical:
    """BM25 of questions against passages, relative to the best one of each question."""

    def __init__(self, questions, passages, vocabulary=30522):
        at, weight = passages.terms(False)
        n = len(passages)
        df = torch.zeros(vocabulary, device=DEVICE).index_add(
            0, at[1], torch.ones_like(at[1], dtype=torch.float32)
        )
        self.idf = torch.log(1 + (n - df + 0.5) / (df + 0.5))
        self.docs = torch.sparse_coo_tensor(at, weight, (n, vocabulary)).coalesce().to_sparse_csr()
        at, _ = questions.terms(True)
        self.terms = at[1]
        self.first = torch.searchsorted(
            at[0].contiguous(), torch.arange(len(questions) + 1, device=DEVICE)
        )
        self.vocabulary = vocabulary

    def scores(self, rows):
        rows = torch.as_tensor(rows, device=DEVICE)
        count = self.first[rows + 1] - self.first[rows]
        item = torch.repeat_interleave(torch.arange(len(rows), device=DEVICE), count)
        begin = torch.repeat_interleave(F.pad(torch.cumsum(count, 0), (1, 0))[:-1], count)
        term = self.terms[self.first[rows][item] + torch.arange(len(item), device=DEVICE) - begin]
        q = torch.zeros(self.vocabulary, len(rows), device=DEVICE)
        q[term, item] = self.idf[term]
        out = (self.docs @ q).T
        return out / out.amax(1, keepdim=True).clamp_min(1e-6)


# --- adapters ------------------------------------------------------------------------------------------------------------


class Adapted(nn.Module):
    """A linear layer that stays, and a product of two thin matrices beside it."""

    def __init__(self, base: nn.Linear, rank: int):
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.strength = 1.0

    def forward(self, x):
        return self.base(x) + self.strength * F.linear(F.linear(x, self.a), self.b)


def start_body(init, dropout=0.0) -> Body:
    body = Body(dropout)
    load_body(body, str(init))
    return body.to(DEVICE).requires_grad_(False).eval()


PLACES = ("qkv", "out", "up", "down")


def adapt(body: Body, rank: int) -> Body:
    for layer in body.layers:
        for name in PLACES:
            setattr(layer, name, Adapted(getattr(layer, name), rank))
    return body.to(DEVICE)


def adapters(body) -> dict[str, Adapted]:
    return {n: m for n, m in body.named_modules() if isinstance(m, Adapted)}


def set_strength(body, strength):
    for m in adapters(body).values():
        m.strength = strength


def factored(body, tuned, init, rank) -> Body:
    """The difference of two bodies' linear layers as the adapter of that rank that is nearest."""
    new = adapt(start_body(init), rank)
    old, now = dict(body.named_modules()), dict(tuned.named_modules())
    for name, m in adapters(new).items():
        u, s, v = torch.linalg.svd(now[name].weight.float() - old[name].weight.float())
        root = s[:rank].sqrt()
        m.b.data, m.a.data = u[:, :rank] * root, root[:, None] * v[:rank]
    return new


def embed(body, b):
    x = body(b["ids"], b["position"], b["kind"], b["cu"], b["longest"]).float()
    total = x.new_zeros(len(b["length"]), HIDDEN).index_add(0, b["item"], x)
    return F.normalize(total / b["length"][:, None], dim=1)


@torch.no_grad()
def embed_all(body, texts: Texts, tokens=150_000):
    order = np.argsort(-texts.size, kind="stable")
    out = torch.empty(len(texts), HIDDEN, device=DEVICE)
    i = 0
    while i < len(order):
        step = max(1, tokens // texts.size[order[i]])
        pick = torch.from_numpy(order[i : i + step].copy()).to(DEVICE)
        with torch.autocast(DEVICE, torch.float16, enabled=DEVICE == "cuda"):
            out[pick] = embed(body, texts.batch(pick))
        i += step
    return out


def eighths(vectors):
    """Vectors as 8-bit numbers; their length is lost."""
    return (
        (127 * vectors / vectors.abs().amax(1, keepdim=True)).round().to(torch.int8).cpu().numpy()
    )


# --- measuring -----------------------------------------------------------------------------------------------------------


class Book:
    def __init__(self, data, tok):
        self.chunks = Texts([c[1] for c in data["chunks"]], tok, 256)
        self.questions = Texts([q[0] for q in data["questions"]], tok, 256)
        number: dict[str, int] = {}
        self.page = torch.tensor(
            [number.setdefault(c[0], len(number)) for c in data["chunks"]], device=DEVICE
        )
        self.pages = len(number)
        self.relevant = [[number.get(r, -1) for r in q[1]] for q in data["questions"]]
        self.right = torch.zeros(len(self.questions), self.pages, dtype=torch.bool, device=DEVICE)
        for i, r in enumerate(self.relevant):
            self.right[i, [x for x in r if x >= 0]] = True
        lexical = Lexical(self.questions, self.chunks)
        self.bm25 = torch.cat(
            [
                lexical.scores(torch.arange(a, min(a + 256, len(self.questions)), device=DEVICE))
                for a in range(0, len(self.questions), 256)
            ]
        )

    def measure(self, vq, vc, graded):
        """Page recall@5, or nDCG@10, of cosine alone and with BM25."""
        out = []
        for share in (0.0, LEXICAL):
            sims = vq @ vc.T + share * self.bm25
            best = sims.new_full((len(vq), self.pages), -9.0).scatter_reduce(
                1, self.page.expand_as(sims), sims, "amax"
            )
            top = best.topk(min(10, self.pages), 1).indices.tolist()
            total = 0.0
            for ids, r in zip(top, self.relevant, strict=True):
                if graded:
                    gain = sum(1 / math.log2(k + 2) for k, p in enumerate(ids) if p in r)
                    total += gain / sum(1 / math.log2(k + 2) for k in range(min(10, len(r))))
                else:
                    total += sum(p in r for p in ids[:5]) / len(r)
            out.append(round(100 * total / len(top), 2))
        return out


class Bench:
    def __init__(self, path, tok, base):
        data = json.load(lzma.open(path))
        self.books = {n: Book(data[n], tok) for n in (*BOOKS, "squad", "sample") if n in data}
        self.vectors = {n: embed_all(base, b.chunks) for n, b in self.books.items()}
        self.start = {n: embed_all(base, b.questions) for n, b in self.books.items()}
        self.base = self.measure(base)

    def measure(self, body, both=False, books=None):
        out = {}
        for n, b in self.books.items():
            if books is None or n in books:
                vc = embed_all(body, b.chunks) if both else self.vectors[n]
                out[n] = b.measure(embed_all(body, b.questions), vc, n == "scifact")
        return out

    def compare(self, result):
        """Mean gain over the six books, dense and hybrid, and the least of each."""
        gains = np.array([np.subtract(result[n], self.base[n]) for n in BOOKS if n in result])
        return [*np.round(gains.mean(0), 2).tolist(), *np.round(gains.min(0), 2).tolist()]


# --- training ------------------------------------------------------------------------------------------------------------


class Data:
    def __init__(self, path, tok, base):
        data = json.load(lzma.open(path))
        docs = [f"{t}\n{x}" if t else x for t, x in data["passages"]]
        group = list(range(len(docs)))
        self.rows = []
        for q, p, src, parent in data["rows"]:
            other = p
            if parent is not None:  # the same passage without its own heading
                other = len(docs)
                docs.append(f"{parent}\n{data['passages'][p][1]}")
                group.append(p)
            self.rows.append((q, p, other, src))
        self.passages = Texts(docs, tok, 160)
        self.questions = Texts([r[0] for r in self.rows], tok, 64)
        self.group = torch.tensor(group, device=DEVICE)
        self.positive = torch.tensor([r[1] for r in self.rows], device=DEVICE)
        self.other = torch.tensor([r[2] for r in self.rows], device=DEVICE)
        self.docs = np.array([r[3].startswith("docs") for r in self.rows])
        log(f"{len(self.rows)} rows, {len(docs)} passages, {int(self.passages.size.sum())} tokens")
        self.vectors = embed_all(base, self.passages)
        self.start = embed_all(base, self.questions)
        log("embedded")
        self.lexical = Lexical(self.questions, self.passages)
        self.hard = self.mine()
        log("mined")

    def forbidden(self, rows):
        """Passages that are no negatives of these rows: other cuts of the positive, and its twins."""
        p = self.positive[rows]
        same = self.group[p][:, None] == self.group[None]
        return same | (self.vectors[p] @ self.vectors.T > TWIN)

    @torch.no_grad()
    def mine(self, depth=24, skip=1):
        """The best passages by cosine and BM25 that aren't the positive."""
        out = []
        for a in range(0, len(self.rows), 512):
            rows = torch.arange(a, min(a + 512, len(self.rows)), device=DEVICE)
            s = self.start[rows] @ self.vectors.T + LEXICAL * self.lexical.scores(rows)
            out.append(s.masked_fill(self.forbidden(rows), -9).topk(depth, 1).indices[:, skip:])
        return torch.cat(out)


def rows_of(data, rng, config, size):
    """Batches of rows without end."""
    keep = (
        data.docs
        if config.get("docs_only")
        else data.docs | (rng.random(len(data.docs)) < config.get("others", 0.6))
    )
    use = np.nonzero(keep)[0]
    while True:
        order = rng.permutation(use)
        for a in range(0, len(order) - size + 1, size):
            yield torch.from_numpy(order[a : a + size]).to(DEVICE)


def chosen(data, rows, rng):
    """The positive passage, in three of five cases without its own heading."""
    bare = torch.from_numpy(rng.random(len(rows)) < 0.6).to(DEVICE)
    return torch.where(bare, data.other[rows], data.positive[rows])


def one_sided_loss(body, data, rows, config, rng):
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        v = embed(body, data.questions.batch(rows))
    target = chosen(data, rows, rng)
    with torch.no_grad():
        forbidden = data.forbidden(rows)
        forbidden[torch.arange(len(rows), device=DEVICE), target] = False
        words = config["lexical"] * data.lexical.scores(rows) if config["lexical"] else 0.0
    s = (v @ data.vectors.T + words).masked_fill(forbidden, -9)
    start = data.start[rows]
    return (
        F.cross_entropy(SHARP * s, target) + config["keep"] * 10 * (1 - (v * start).sum(1)).mean()
    )


def two_sided_loss(body, data, rows, config, rng):
    target = chosen(data, rows, rng)
    hard = data.hard[
        rows, torch.from_numpy(rng.integers(0, data.hard.shape[1], len(rows))).to(DEVICE)
    ]
    both = torch.cat([target, hard])
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        v = embed(body, data.questions.batch(rows))
        w = embed(body, data.passages.batch(both))
    with torch.no_grad():
        forbidden = data.forbidden(rows)[:, both]
        diagonal = torch.arange(len(rows), device=DEVICE)
        forbidden[diagonal, diagonal] = False
        words = config["lexical"] * data.lexical.scores(rows)[:, both] if config["lexical"] else 0.0
    s = (v @ w.T + words).masked_fill(forbidden, -9)
    n = len(rows)
    loss = F.cross_entropy(SHARP * s, diagonal) + 0.3 * F.cross_entropy(
        SHARP * s[:, :n].T, diagonal
    )
    kept = (1 - (v * data.start[rows]).sum(1)).mean() + (1 - (w * data.vectors[both]).sum(1)).mean()
    return loss + config["keep"] * 10 * kept


def book_loss(body, bench, name, rng, size):
    """Of a book's dev questions: any chunk of a right page is right."""
    book = bench.books[name]
    pick = torch.from_numpy(rng.permutation(len(book.questions))[:size]).to(DEVICE)
    with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
        v = embed(body, book.questions.batch(pick))
    s = SHARP * (v @ bench.vectors[name].T + LEXICAL * book.bm25[pick])
    right = book.right[pick][:, book.page]
    has = right.any(1)
    loss = s.logsumexp(1) - s.masked_fill(~right, -1e4).logsumexp(1)
    return loss[has].mean() + 5 * (1 - (v * bench.start[name][pick]).sum(1)).mean()


def train(body, data, config, seconds, seed, bench=None, books=()):
    rng = np.random.default_rng(seed)
    params = [p for p in body.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=config["lr"], weight_decay=0.01)
    batches = rows_of(data, rng, config, config["batch"])
    loss_of = two_sided_loss if config["both"] else one_sided_loss
    begin, step, total = time.time(), 0, 0.0
    body.train()
    while (progress := (time.time() - begin) / seconds) < 1:
        for g in opt.param_groups:
            g["lr"] = (
                config["lr"] * min(1, (step + 1) / 20) * 0.5 * (1 + math.cos(math.pi * progress))
            )
        loss = loss_of(body, data, next(batches), config, rng)
        if books:
            name = books[step % len(books)]
            loss = loss + config.get("dev", 0.5) * book_loss(body, bench, name, rng, 128)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
        step += 1
        total += float(loss.detach())
    log(f"{config} {step} steps, mean loss {total / max(1, step):.3f}")
    return body.eval().requires_grad_(False)


ONE = {"both": False, "rank": 16, "lexical": LEXICAL, "keep": 0.3, "lr": 1e-3, "batch": 768}
TWO = {"both": True, "rank": 16, "lexical": LEXICAL, "keep": 0.3, "lr": 5e-4, "batch": 768}
VARIANTS = {
    "q16": (ONE, 12),
    "q8": ({**ONE, "rank": 8}, 10),
    "q16-dense": ({**ONE, "lexical": 0.0}, 10),
    "q16-near": ({**ONE, "keep": 1.5}, 10),
    "q16-docs": ({**ONE, "docs_only": True}, 10),
    "q-full": ({**ONE, "rank": 0, "lr": 4e-5}, 14),
    "s16": (TWO, 40),
    "s16-near": ({**TWO, "keep": 1.5}, 30),
    "s-full": ({**TWO, "rank": 0, "lr": 6e-5}, 40),
}
FOLDED = ({**ONE, "rank": 8, "keep": 0.5, "batch": 512}, 7)
STRENGTHS = (0.35, 0.6, 1.0)


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", type=Path, required=True)
    ap.add_argument("--init", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--scale", type=float, default=1.0, help="of every training time")
    ap.add_argument("--until", type=float, default=285, help="seconds after which none is begun")
    ap.add_argument("--variants", nargs="*", default=list(VARIANTS))
    ap.add_argument("--batch", type=int, default=0)
    args = ap.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    torch.manual_seed(3)
    tok = Tokenizer.from_file(str(args.data / "tokenizer.json"))
    tok.no_padding()
    tok.no_truncation()
    base = start_body(args.init)
    data = Data(args.data / "train.json.xz", tok, base)
    bench = Bench(args.data / "books.json.xz", tok, base)
    report: dict = {"base": bench.base}
    saved: dict[str, np.ndarray] = {}
    best = (-9.0, None)
    log("base", json.dumps(bench.base))

    def keep(name, body):
        for place, m in adapters(body).items():
            saved[f"{name}/{place}/a"] = m.a.detach().half().cpu().numpy()
            saved[f"{name}/{place}/b"] = m.b.detach().half().cpu().numpy()

    def write():
        (args.out / "embedder-report.json").write_text(json.dumps(report, indent=1))
        np.savez_compressed(args.out / "embedder-adapters.npz", **saved)
        if best[1] is not None:
            np.savez(args.out / "embedder-chunks.npz", **best[1])

    def judge(name, body, both):
        nonlocal best
        for strength in STRENGTHS:
            set_strength(body, strength)
            result = bench.measure(body, both)
            gain = bench.compare(result)
            report[f"{name} x {strength}"] = {"gain": gain, **result}
            log(
                f"{name} x {strength}: dense {gain[0]:+} hybrid {gain[1]:+} least {gain[2:]}",
                json.dumps(result),
            )
            score = gain[1] + 0.5 * min(0.0, gain[3] + 0.5)
            if both and score > best[0]:
                best = (score, {n: eighths(embed_all(body, bench.books[n].chunks)) for n in BOOKS})
                report["chunks"] = f"{name} x {strength}"
        set_strength(body, 1.0)
        keep(name, body)
        write()

    def fitted(config):
        body = (
            adapt(start_body(args.init, 0.05), config["rank"])
            if config["rank"]
            else start_body(args.init, 0.05)
        )
        for n, p in body.named_parameters():
            p.requires_grad_(
                n.endswith((".a", ".b"))
                if config["rank"]
                else any(f".{x}.weight" in n for x in PLACES)
            )
        return body

    for k, name in enumerate(args.variants):
        config, seconds = VARIANTS[name]
        config = {**config, "batch": args.batch or config["batch"]}
        if time.time() - T0 > args.until:
            break
        body = train(fitted(config), data, config, seconds * args.scale, 11 + k)
        if config["rank"]:
            judge(name, body, config["both"])
        else:
            for rank in (8, 16):
                judge(f"{name}-svd{rank}", factored(base, body, args.init, rank), config["both"])
        if name == "q8":  # then with the dev questions of all other books, and of all
            config, seconds = FOLDED
            config = {**config, "batch": args.batch or config["batch"]}
            left_out: dict = {x: {} for x in STRENGTHS}
            for fold in (*(n for n in BOOKS if n in bench.books), None):
                others = [n for n in BOOKS if n != fold and n in bench.books]
                body = train(fitted(config), data, config, seconds * args.scale, 31, bench, others)
                keep(f"dev-without-{fold}" if fold else "dev-all", body)
                for strength in STRENGTHS if fold else ():
                    set_strength(body, strength)
                    left_out[strength].update(bench.measure(body, books=(fold,)))
            for strength, result in left_out.items():
                gain = bench.compare(result)
                report[f"dev, one book out x {strength}"] = {"gain": gain, **result}
                log(f"dev, one book out x {strength}: {gain}", json.dumps(result))
            write()
    write()
    log("done")


if __name__ == "__main__":
    main()
