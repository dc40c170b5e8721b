"""Questions for passages that have none: SmolLM2-135M learns to ask for a marked sentence, then asks for sentences of documentation.

    python questions.py --pack .data/pack3 --gguf SmolLM2-135M-Instruct.Q4_1.gguf --out made.json.xz --learn 70 --ask 120

The result, [[passage, sentence, question], …], is training text for the reader only; `distil.py` keeps a question's sentence as its
label only where the teachers would choose the same one."""

import argparse
import json
import lzma
import math
import random
import re
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from asker import BEGIN, END, Asker, Gguf
from encode import MAX_SENTENCES, tokenizer
from text import sentences

FROM = {"squad": 1.0, "squad_sent": 1.0, "nq": 1.0, "covidqa": 1.0, "iirc": 0.5, "fairytale": 0.2}
OPEN, CLOSE = 3, 5  # two special tokens the text never has: around the sentence
TITLE, BEFORE, INSIDE, AFTER, QUESTION = 30, 90, 80, 50, 32  # tokens
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
T0 = time.time()
ORDER = re.compile(r"^\W*(?:\d+\.\s*)?(?:add|allow|build|call|change|check|choose|click|connect|copy|create|define|disable|do|enable|"
                   r"ensure|get|give|install|keep|let|list|load|make|open|pass|place|print|put|read|remove|replace|return|run|save|"
                   r"select|send|set|show|specify|start|stop|test|turn|type|update|use|wrap|write)s?\b|\byou (?:can|may|should|must)\b", re.I)  # fmt: skip
ITEM = re.compile(
    r"\s*(?:\||[-*+•]\s|\d{1,2}[.)]\s)(?![-:| ]+$)"
)  # a table's row, an item of a list, a step
REASON = re.compile(
    r"\bbecause\b|\bso that\b|\botherwise\b|\bthis (?:means|avoids|prevents)\b", re.I
)


def log(*parts):
    print(f"[{time.time() - T0:6.1f}]", *parts, flush=True)


def prompts(tok, places: list[tuple[str, str, int, int]]) -> list[list[int]]:
    """(heading path, passage, first and last character of the sentence) → tokens with the sentence marked."""
    parts = [
        [
            e.ids
            for e in tok.encode_batch(
                [cut(t, x, a, b) for t, x, a, b in places], add_special_tokens=False
            )
        ]
        for cut in (
            lambda t, x, a, b: t + ":" if t else "",
            lambda t, x, a, b: x[max(0, a - 600) : a],
            lambda t, x, a, b: x[a:b],
            lambda t, x, a, b: x[b : b + 350],
        )
    ]
    return [
        [BEGIN, *t[-TITLE:], *x[-BEFORE:], OPEN, *s[:INSIDE], CLOSE, *y[:AFTER], END]
        for t, x, s, y in zip(*parts, strict=True)
    ]


def block(layer, x, cos, sin, attend):
    """A layer on rows of equal length; `attend(q, k, v)` decides what a token sees."""
    h, s = layer.heads, layer.shared
    qkv = layer.qkv(layer.norm1(x)).view(*x.shape[:2], h + 2 * s, layer.size)
    a, b = qkv[..., : h + s, :].unflatten(-1, (-1, 2)).unbind(-1)
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(qkv.dtype)
    spread = lambda t: t.repeat_interleave(h // s, 2).transpose(1, 2)
    y = attend(
        turned[:, :, :h].transpose(1, 2), spread(turned[:, :, h:]), spread(qkv[..., h + s :, :])
    )
    x = x + layer.out(y.transpose(1, 2).flatten(2))
    gate, up = layer.gate_up(layer.norm2(x)).chunk(2, -1)
    return x + layer.down(F.silu(gate) * up)


def angles(model, position):
    angle = (position.float()[..., None] * model.turn)[:, :, None]
    return angle.cos(), angle.sin()


def hidden(model, ids, cache=None):
    """The last layer of rows filled up on the right; keys and values go into `cache`."""
    x = model.words(ids)
    if torch.is_autocast_enabled(DEVICE):
        x = x.bfloat16()
    cos, sin = angles(model, torch.arange(ids.shape[1], device=ids.device)[None])
    for i, layer in enumerate(model.layers):

        def attend(q, k, v, i=i, layer=layer):
            if cache is not None:
                each = layer.heads // layer.shared  # heads that share a key
                cache[i][0][:, :, : k.shape[2]] = k[:, ::each]
                cache[i][1][:, :, : v.shape[2]] = v[:, ::each]
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)

        x = block(layer, x, cos, sin, attend)
    return model.norm(x)


def filled(rows: list[list[int]], more: int = 0) -> torch.Tensor:
    out = np.zeros((len(rows), max(map(len, rows)) + more), np.int64)
    for i, r in enumerate(rows):
        out[i, : len(r)] = r
    return torch.from_numpy(out).to(DEVICE)


def learn(
    model, asked: list[list[int]], questions: list[list[int]], seconds: float, size: int
) -> None:
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.98), fused=DEVICE == "cuda")
    rng, begin, step, total = np.random.default_rng(1), time.time(), 0, 0.0
    while True:
        near = np.argsort([len(p) for p in asked] + rng.normal(0, 10, len(asked)))
        for at in rng.permutation(range(0, len(near), size)):
            progress = (time.time() - begin) / seconds
            if progress >= 1:
                log(f"learned to ask: {step} steps, {step * size / len(asked):.1f} epochs")
                return
            pick = near[at : at + size]
            rows = [[*asked[i], *questions[i], END] for i in pick]
            first = torch.tensor([len(asked[i]) for i in pick], device=DEVICE)
            ids = filled(rows)
            column = torch.arange(1, ids.shape[1], device=DEVICE)[None]
            last = torch.tensor([len(r) for r in rows], device=DEVICE)
            use = (column >= first[:, None]) & (column < last[:, None])
            with torch.autocast(DEVICE, torch.bfloat16):
                x = hidden(model, ids[:, :-1])[use] @ model.words.weight.T
            loss = F.cross_entropy(x.float(), ids[:, 1:][use])
            for g in opt.param_groups:
                g["lr"] = 3e-4 * min(1, (step + 1) / 30) * 0.5 * (1 + math.cos(math.pi * progress))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            step += 1
            total += loss.detach()
            if step % 50 == 0:
                log(f"asking: step {step} loss {float(total) / 50:.3f}")
                total = 0.0


@torch.no_grad()
def ask(model, rows: list[list[int]], heat: float = 0.8, among: int = 40) -> list[list[int]]:
    """A continuation of each row, drawn token by token."""
    ids = filled(rows, QUESTION)
    n, width = ids.shape
    length = torch.tensor([len(r) for r in rows], device=DEVICE)
    shared, size = model.layers[0].shared, model.layers[0].size
    each = model.layers[0].heads // shared
    kind = model.words.weight.dtype
    cache = [
        [torch.zeros(n, shared, width, size, device=DEVICE, dtype=kind) for _ in "kv"]
        for _ in model.layers
    ]
    x = hidden(model, ids[:, : width - QUESTION], cache)[torch.arange(n, device=DEVICE), length - 1]
    every, done = torch.arange(n, device=DEVICE), torch.zeros(n, dtype=torch.bool, device=DEVICE)
    columns = torch.arange(width, device=DEVICE)
    for step in range(QUESTION):
        top = (x @ model.words.weight.T).float().topk(among, 1)
        drawn = torch.multinomial(torch.softmax(top.values / heat, 1), 1)
        token = torch.where(done, END, top.indices.gather(1, drawn).squeeze(1))
        at = length + step
        ids[every, at] = token
        done |= token == END
        if step % 4 == 3 and bool(done.all()):
            break
        x = model.words(token)[:, None]
        cos, sin = angles(model, at[:, None])
        hides = (columns[None] > at[:, None])[:, None, None]
        for i, layer in enumerate(model.layers):

            def attend(q, k, v, i=i):
                keys, values = cache[i]
                keys[every, :, at], values[every, :, at] = k[:, ::each, 0], v[:, ::each, 0]
                x = q.reshape(n, shared, each, size) @ keys.transpose(2, 3) * size**-0.5
                x = torch.softmax(x.masked_fill(hides, -1e4), -1, dtype=torch.float32)
                return (x.to(values.dtype) @ values).reshape(n, shared * each, 1, size)

            x = block(layer, x, cos, sin, attend)
        x = model.norm(x)[:, 0]
    out = []
    for row, a in zip(ids.tolist(), length.tolist(), strict=True):
        new = row[a:]
        out.append(new[: new.index(END)] if END in new else [])
    return out


def opening(sentence: str, rng: random.Random) -> str:
    """How the question begins, where the sentence suggests it; else the model decides."""
    if REASON.search(sentence) and rng.random() < 0.4:
        return "Why"
    if ORDER.search(sentence) and rng.random() < 0.5:
        return rng.choice(["How do I", "How can I", "How do I", "How to", "What should I", "Which"])
    return rng.choice(["", "", "", "What", "How", "Which", "What happens", "Can", "When", "Is", "What does"]) if rng.random() < 0.4 else ""  # fmt: skip


STOP = frozenset(
    "what which when where how why who is are was were do does did can could should would will to the a an of in on for with i "
    "you my your it this that be by from and or not if happens happen use used using many much there their its has have get".split()
)


def leaning(q: str, passage: list[str], rng: random.Random) -> str:
    """The question as a follow-up that was made to stand alone: what it is about in brackets, or "And" before it."""
    words = re.findall(r"[\w`./-]+", q.rstrip("?. "))
    about = {w.lower() for w in re.findall(r"[\w`./-]+", passage[0])}
    runs, run = [], []
    for w in [*words[1:], "the"]:
        if w.lower() in STOP:
            runs += [run] if run else []
            run = []
        else:
            run.append(w)
    runs = [r[-3:] for r in runs if len(" ".join(r)) > 3]
    if rng.random() < 0.3 or not runs or len(words) < 5:
        return f"And {q[0].lower()}{q[1:]}" if q[1:2].islower() else q
    topic = " ".join(max(runs, key=lambda r: (len(about & {w.lower() for w in r}), rng.random())))
    if topic not in q:
        return q
    rest = re.sub(
        r"\b(?:the|an?) (it|them)\b",
        r"\1",
        q.replace(topic, "them" if topic.endswith("s") else "it", 1),
    )
    return f"{rng.choice(['', '', 'And '])}{rest.rstrip('?. ')} ({topic})?"


def chosen(data: dict, seed: int, per_docs: int = 7, per_other: int = 2):
    """(passage, sentence, opening, the sentence's characters) in random order: documentation first in number, then the other passages.

    Rows of tables and items of lists are asked for more often than their number."""
    rng = random.Random(seed)
    docs = {r["p"] for r in data["rows"] if r["src"].startswith("docs")}
    apart = {r["p"] for r in data["rows"] if r["src"] in ("quac", "doqa", "qamr")}
    out = []
    for p, (_, text) in enumerate(data["P"]):
        if p in apart:
            continue
        good = [
            (k, text[a:b], (a, b))
            for k, (a, b) in enumerate(sentences(text)[:MAX_SENTENCES])
            if 5 <= len(text[a:b].split()) <= 60 and not text[a:b].rstrip().endswith(("?", ":"))
        ]
        n = per_docs if p in docs else per_other if rng.random() < 0.7 else 0
        pick = rng.sample(good, min(n, len(good)))
        if p in docs:
            items = [x for x in good if ITEM.match(x[1]) and x not in pick]
            pick += rng.sample(items, min(3, len(items)))
        out += [(p, k, opening(s, rng), span) for k, s, span in pick]
    rng.shuffle(out)
    return out


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("--pack", type=Path, default=Path(".data/pack3"))
    ap.add_argument("--gguf", type=Path, required=True)
    ap.add_argument("--out", type=Path, required=True)
    ap.add_argument("--learn", type=float, default=70, help="seconds")
    ap.add_argument("--ask", type=float, default=120, help="seconds")
    ap.add_argument("--leaning", type=float, default=0.1, help="share made to look like follow-ups")
    ap.add_argument("--layers", type=int, default=30, help="fewer for a trial run")
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    data = json.load(lzma.open(args.pack / "train.json.xz"))
    passages, rng = data["P"], random.Random(args.seed)
    taught = [
        r
        for r in data["rows"]
        if r["y"] == 1 and r.get("ev") and rng.random() < FROM.get(r["src"], 0.0)
    ]
    places = chosen(data, args.seed)
    log(f"{len(taught)} questions to learn from, {len(places)} sentences to ask for")
    while not args.gguf.exists():
        time.sleep(1)
    g = Gguf(args.gguf)
    held = args.out.with_suffix(".tokenizer")
    g.tokenizer().save(str(held))
    tok = tokenizer(held)
    held.unlink()
    model = Asker(args.layers)
    model.load(g)
    model.to(DEVICE)
    log("loaded")
    shown = prompts(tok, [(*passages[r["p"]], *r["ev"][0]) for r in taught])
    questions = [
        e.ids[:QUESTION]
        for e in tok.encode_batch([r["q"] for r in taught], add_special_tokens=False)
    ]
    learn(model, shown, questions, args.learn, args.batch)
    if DEVICE == "cuda":
        model = model.bfloat16()
        model.turn = 100000.0 ** (-torch.arange(32, device=DEVICE) / 32)
    begin, made, size = time.time(), [], 8 * args.batch
    for a in range(0, len(places), 8 * size):  # in pieces of eight batches, each sorted by length
        part = places[a : a + 8 * size]
        starts = [
            e.ids for e in tok.encode_batch([o for *_, o, _ in part], add_special_tokens=False)
        ]
        shown = prompts(tok, [(*passages[p], *span) for p, _, _, span in part])
        rows = [[*x, *o] for x, o in zip(shown, starts, strict=True)]
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for b in range(0, len(order), size):
            pick = order[b : b + size]
            for i, new in zip(pick, ask(model, [rows[i] for i in pick]), strict=True):
                text = tok.decode([*starts[i], *new]).strip()
                if len(text.split()) >= 3:
                    if rng.random() < args.leaning:
                        text = leaning(text, passages[part[i][0]], rng)
                    made.append([part[i][0], part[i][1], text])
            if time.time() - begin > args.ask:
                break
        if time.time() - begin > args.ask:
            break
    for p, k, q in made[:: max(1, len(made) // 12)]:
        a, b = sentences(passages[p][1])[k]
        log(repr(q), "<-", repr(passages[p][1][a:b][:160]))
    part = args.out.with_suffix(".part")
    part.write_bytes(lzma.compress(json.dumps(made, ensure_ascii=False).encode(), preset=2))
    part.rename(args.out)
    log(f"{len(made)} questions in {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
