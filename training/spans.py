"""Exact answers: the likeliest span, and how right spans are."""

import re
from collections import Counter

import numpy as np
import torch
from model import Store
from train import DEVICE

LONGEST = 40  # tokens


def best_span(o: dict, bits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """By item: the likeliest start in the marked sentences and the likeliest end after it (tokens of the passage; -1: none)."""
    item, number = o["token_item"], o["sentence_number"][o["token_sentence"]]
    inside = ((bits[item] >> number) & 1).bool()
    at = o["text_at"]

    def best(x, use):
        top = x.new_full((o["n"],), -1e4).scatter_reduce(0, item[use], x[use], "amax")
        is_top = use & (x == top[item])
        return at.new_full((o["n"],), -1).scatter_reduce(0, item[is_top], at[is_top], "amax")

    start = best(o["start"].float(), inside)
    after = inside & (at >= start[item]) & (at < start[item] + LONGEST)
    return start, best(o["end"].float(), after)


def _words(text: str) -> list[str]:
    return [w for w in re.findall(r"\w+", text.lower()) if w not in ("a", "an", "the")]


def f1(a: str, b: str) -> float:
    x, y = _words(a), _words(b)
    common = sum((Counter(x) & Counter(y)).values())
    return 2 * common / (len(x) + len(y)) if common else 0.0


@torch.no_grad()
def span_f1(model, store: Store, contexts, sets, c0: int, q0: int) -> dict:
    """F1 and exact match of the span in the passage that holds the answer (questions people asked)."""
    of = {}
    for i, chunk in enumerate(sets["chunks"]):
        of.setdefault(chunk[2], []).append(i)
    pairs = [
        (i, c)
        for i, q in enumerate(sets["questions"])
        if q["answerable"]
        for p in q["relevant"]
        for c in of.get(p, [])
        if any(a in sets["chunks"][c][1] for a in q["answers"])
    ]
    found = []
    for at in range(0, len(pairs), 500):
        part = pairs[at : at + 500]
        q, c = (torch.tensor([p[k] for p in part], device=DEVICE) for k in (0, 1))
        b = store.batch(q + q0, c + c0, torch.zeros(len(part), dtype=torch.bool, device=DEVICE))
        with torch.autocast(DEVICE, torch.bfloat16):
            token, _ = model(b)
        o = {
            "token_item": b["item"],
            "token_sentence": torch.zeros_like(b["item"]),
            "sentence_number": torch.zeros(1, dtype=torch.long, device=DEVICE),
            "text_at": b["text_at"],
            "n": len(part),
            "start": torch.where(b["number"] == 255, -1e4, token[:, 0]),
            "end": torch.where(b["number"] == 255, -1e4, token[:, 1]),
        }
        s, e = best_span(o, torch.ones(len(part), dtype=torch.long, device=DEVICE))
        for (i, c), x, y in zip(part, s.tolist(), e.tolist(), strict=True):
            off, text = contexts[c0 + c]["offsets"], sets["chunks"][c][1]
            got = text[off[x, 0] : off[y, 1]] if 0 <= x <= y < len(off) else ""
            found.append(max(f1(got, a) for a in sets["questions"][i]["answers"]))
    return {
        "span_f1": round(float(np.mean(found)), 4),
        "span_em": round(float(np.mean(np.array(found) > 0.999)), 4),
    }
