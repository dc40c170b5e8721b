"""Groups of a made question (questions.py): its passage, near ones, further ones, and its passage without the sentence asked for."""

import json
import lzma
from pathlib import Path

import numpy as np
import torch
from encode import MAX_SENTENCES, NO_SENTENCE, question_ids
from model import embed_all
from train import (
    DEVICE,
    NEGATIVE,
    POSITIVE,
    UNLABELLED,
    in_batches,
    log,
    on_device,
    outputs,
)

NEAR, AMONG = 3, 12  # near passages that are read, drawn from so many
FURTHER, UP_TO = 2, 60  # and of those behind them: what another book says that is near it
WIDE = 2 + NEAR + FURTHER


def shown(contexts) -> np.ndarray:
    """The sentences a context has tokens of, as bits."""
    out = np.zeros(len(contexts), np.uint64)
    number = np.concatenate([c["sentence"] for c in contexts])
    row = np.repeat(np.arange(len(contexts)), [len(c["sentence"]) for c in contexts])
    real = number != NO_SENTENCE
    np.bitwise_or.at(out, row[real], np.uint64(1) << number[real].astype(np.uint64))
    return out


class Made:
    """Made questions whose sentence a context holds; `kind` says what is known of each item of a group."""

    def __init__(self, path: Path, store, seen, tok, body, vectors):
        """seen: the sentences shown (as bits)."""
        rows = json.load(lzma.open(path))
        ok = lambda p, k: k < MAX_SENTENCES and int(seen[p]) >> k & 1
        self.rows = [r for r in rows if ok(r[0], r[1])]
        ids = question_ids(tok, [r[2] for r in self.rows])
        self.first = store.ask(ids)
        self.lengths = np.array([len(x) for x in ids])
        own = torch.tensor([r[0] for r in self.rows], device=DEVICE)
        v, closest = embed_all(body, ids, DEVICE), []
        for a in range(0, len(own), 8192):
            sims = v[a : a + 8192] @ vectors.T
            sims.scatter_(1, own[a : a + 8192, None], -1)
            closest.append(sims.topk(UP_TO, 1).indices.cpu().numpy())
        rng, n = np.random.default_rng(5), len(self.rows)
        rank = np.concatenate(
            [
                rng.random((n, AMONG)).argsort(1)[:, :NEAR],
                AMONG + rng.random((n, UP_TO - AMONG)).argsort(1)[:, :FURTHER],
            ],
            1,
        )
        self.near = np.take_along_axis(np.concatenate(closest), rank, 1)
        self.sentence = np.array([r[1] for r in self.rows])
        self.bits = np.array([1 << r[1] for r in self.rows], np.uint64).view(np.int64)
        self.own = own.cpu().numpy()
        self.several = np.array([int(seen[r[0]]).bit_count() > 2 for r in self.rows])
        self.kind = np.full((len(self.rows), WIDE), UNLABELLED)

    def batches(self, rng, lengths_c, tokens: int, only=None, cuts: float = 0.0):
        """An epoch of groups: own passage, near ones, in so many own passage without the sentence (where others are left)."""
        pick = rng.permutation(len(self.rows) if only is None else only)
        n = len(pick)
        own = self.own[pick, None]
        first, last = np.arange(WIDE) == 0, np.arange(WIDE) == WIDE - 1
        items = {
            "g": np.repeat(np.arange(n), WIDE),
            "q": np.repeat(self.first + pick, WIDE),
            "c": np.concatenate([own, self.near[pick], own], 1),
            "type": self.kind[pick],
            "bits": self.bits[pick, None] * first,
            "drop": np.where(last, self.sentence[pick, None], -1),
            **{k: np.full(n * WIDE, -1) for k in ("s", "e")},
            "weak": np.zeros(n * WIDE),
            "plain": rng.random(n * WIDE) < 0.25,
        }
        cut = self.several[pick] & (rng.random(n) < cuts)
        use = (cut[:, None] | ~last).reshape(-1)
        items = {k: v.reshape(-1)[use].astype(np.int64) for k, v in items.items()}
        length = self.lengths[items["q"] - self.first] + lengths_c[items["c"]] + 3
        return in_batches(items, length, tokens)


def place_of_target(o: dict, items: dict) -> torch.Tensor:
    """By group: how many sentences of its passages stand above the one that was asked for."""
    g = items["g"] - items["g"].min()
    si, ev = o["sentence_item"], o["evidence"]
    hit = ((items["bits"][si] >> o["sentence_number"]) & 1).bool()
    top = ev.new_full((int(g.max()) + 1,), 1e4)
    top[g[si[hit]]] = ev[hit]
    missed = top == 1e4
    listed = (items["drop"] < 0)[si]
    above = torch.zeros_like(top).index_add(0, g[si], ((ev > top[g[si]]) & listed).float())
    return torch.where(missed, 1e4, above)


def labelled_by(place, answerable, items: dict, within: int) -> torch.Tensor:
    """Kinds of the items: labelled where the sentence stands high enough; passages that may answer too and passages without the
    sentence stay without a label: what the teacher says of them is all that is known."""
    g = items["g"] - items["g"].min()
    first, cut = items["bits"] != 0, items["drop"] >= 0
    agreed = (place <= within)[g]
    own = answerable.new_zeros(len(place)).index_add(0, g[first], answerable[first])[g]
    kind = torch.full_like(items["type"], UNLABELLED)
    kind[agreed & first] = POSITIVE
    kind[agreed & ~first & ~cut & (answerable < own - 1)] = NEGATIVE
    return kind


@torch.no_grad()
def judge(made: Made, reader, store, lengths_c, tokens: int) -> np.ndarray:
    """Lets the first reader set the kinds; returns the groups that got labels."""
    rng = np.random.default_rng(0)
    for batch in made.batches(rng, lengths_c, tokens):
        items = on_device(batch)
        with torch.autocast(DEVICE, torch.bfloat16):
            o = outputs(reader, store, items)
        kind = labelled_by(place_of_target(o, items), o["answerable"], items, 1)
        start = np.r_[True, batch["g"][1:] != batch["g"][:-1]]
        at = np.arange(len(start))
        column = at - np.maximum.accumulate(np.where(start, at, 0))
        made.kind[batch["q"] - made.first, column] = kind.cpu().numpy()
    good = np.nonzero(made.kind[:, 0] == POSITIVE)[0]
    log(f"{len(good)} of {len(made.rows)} made questions agree with the first reader")
    return good


def with_made(source, extra, every: int = 2):
    """The labelled batches, and one of made questions after every so many."""
    for k, (epoch, batch) in enumerate(source, 1):
        yield epoch, batch
        if k % every == 0:
            yield epoch, next(extra)
