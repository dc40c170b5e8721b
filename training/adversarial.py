"""Adversarial variants of answerable rows, as edits: {"of": row, "y", "src", and "q" (new question) and/or "swap" (old, new) on the passage}.

adv_pswap  a thing the question names is replaced in the passage: the question stays natural, the passage no longer answers it
pos_swap   the same replacement in question and passage: still answerable (so that a replacement is no sign of either)
adv_qswap  the question names another thing of the same kind (from the passage, or a neighbour in embedding space)
adv_trans  another row's question, its subject replaced by this passage's subject: fluent, on topic, not answered here"""

import random
import re

import numpy as np
from tokenizers import Tokenizer

SOURCES = {
    "squad",
    "squad_sent",
    "nq",
    "fairytale",
    "iirc",
    "quac",
    "covidqa",
    "qasper",
    "qamr",
    "docs_def",
    "docs_api",
    "doqa",
    "boolq",
}
WH = set(
    "what who when where which why how whose whom is are was were do does did can could in on at the a an for of to by from during if after before with according along besides name define explain and but or as it he she they we i this that these those there about approximately under between since into about through despite while because his her their its my your our".split()
)
NUMBER = re.compile(r"(?<![\w.])(\d[\d,.]*\d|\d)(?:st|nd|rd|th|s|%)?(?!\w)")
CAPS = re.compile(
    r"\b[A-Z][\w'’&-]*(?:(?:\s+(?:of|the|and|de|du|von|van|la|for|in)){0,2}\s+[A-Z][\w'’&-]*)*"
)
CODE = re.compile(r"\b\w+_\w+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z][a-z]+[A-Z]\w+\b")


def kind(e: str) -> str:
    if re.fullmatch(r"(1[0-9]|20)\d\d", e):
        return "year"
    if re.fullmatch(r"[\d,.]+", e):
        return "number"
    return "code" if CODE.fullmatch(e) else "name"


def names(text: str) -> list[str]:
    """Capitalised phrases, numbers and identifiers of a text; a capital that only starts a sentence does not count."""
    out = []
    for m in CAPS.finditer(text):
        e = m.group(0)
        starts = m.start() == 0 or re.search(
            r"[.!?\n\"“:]\s*$", text[max(0, m.start() - 3) : m.start()]
        )
        words = e.split()
        while words and words[0].lower() in WH:
            words, starts = words[1:], False
        while words and words[-1].lower() in ("of", "the", "and", "for", "in", "de"):
            words = words[:-1]
        if not words or (
            starts and len(words) == 1 and not re.search(rf"[a-z,;] {re.escape(words[0])}\b", text)
        ):
            continue
        e = re.sub(r"['’]s$", "", " ".join(words))
        if len(e) > 2:
            out.append(e)
    out += [m.group(1) for m in NUMBER.finditer(text)] + CODE.findall(text)
    return list(dict.fromkeys(out))


def finder(e: str) -> re.Pattern:
    return re.compile(rf"(?<!\w){re.escape(e)}(?!\w)", re.I)


def swap_text(text: str, old: str, new: str) -> tuple[str, list[tuple[int, int]]]:
    """Replaces every whole-word occurrence; also gives (position, shift) pairs to move offsets."""
    out, moves, last = [], [], 0
    for m in finder(old).finditer(text):
        out += [text[last : m.start()], new]
        last = m.end()
        moves.append((m.end(), len(new) - len(m.group(0))))
    return "".join([*out, text[last:]]), moves


def move(offset: int, moves: list[tuple[int, int]]) -> int:
    return offset + sum(shift for at, shift in moves if at <= offset)


class Neighbours:
    """Things of the same kind: nearest in the mean of MiniLM's input word vectors."""

    def __init__(self, entities: list[str], tokenizer: Tokenizer, vectors: np.ndarray, k: int = 24):
        self.entities, self.index = entities, {e: i for i, e in enumerate(entities)}
        table = np.zeros((len(entities), vectors.shape[1]), np.float32)
        for i, enc in enumerate(tokenizer.encode_batch(entities, add_special_tokens=False)):
            ids = [t for t in enc.ids if t] or [100]
            table[i] = vectors[ids].mean(0)
        table -= table.mean(0)
        table /= np.linalg.norm(table, axis=1, keepdims=True) + 1e-6
        self.near = np.zeros((len(entities), k), np.int32)
        for a in range(0, len(entities), 1024):
            s = table[a : a + 1024] @ table.T
            self.near[a : a + 1024] = np.argpartition(-s, k, axis=1)[:, :k]

    def draw(self, e: str, rng: random.Random, avoid: str) -> str | None:
        if e not in self.index:
            return None
        words, low = set(e.lower().split()), avoid.lower()
        pool = [self.entities[j] for j in self.near[self.index[e]]]
        pool = [
            x
            for x in pool
            if not words & set(x.lower().split())
            and x.lower() not in low
            and abs(len(x.split()) - len(e.split())) <= 1
            and kind(x) == kind(e)
            and not any(w[:4] in x.lower() for w in words if len(w) > 2)
            and any(c.isalnum() for c in x)
        ]
        return rng.choice(pool) if pool else None


def number_like(e: str, rng: random.Random) -> str:
    if kind(e) == "year":
        return str(int(e) + rng.choice([-1, 1]) * rng.choice([1, 2, 3, 5, 7, 10, 20, 50, 100]))
    digits = list(e)
    spots = [i for i, c in enumerate(digits) if c.isdigit()]
    i = rng.choice(spots)
    digits[i] = rng.choice([d for d in "123456789" if d != digits[i]])
    return "".join(digits)


def build(passages, rows, tokenizer: Tokenizer, vectors: np.ndarray, seed: int = 11) -> list[dict]:
    rng = random.Random(seed)
    use = [i for i, r in enumerate(rows) if r["src"] in SOURCES and r["y"] == 1]
    in_passage: dict[int, list[str]] = {}
    for i in use:
        p = rows[i]["p"]
        if p not in in_passage:
            in_passage[p] = names(passages[p][1][:2500])
    in_question = {}
    for i in use:
        r, text = rows[i], passages[rows[i]["p"]][1]
        q, low = r["q"], r["q"].lower()
        found = [e for e in names(q) if kind(e) != "name" or e.split()[0].lower() not in WH]
        found += [
            e
            for e in in_passage[r["p"]]
            if len(e) > 3
            and finder(e).search(low)
            and not any(e.lower() in f.lower() for f in found)
        ]
        answer = text[r["span"][0] : r["span"][1]].lower() if r.get("span") else ""
        in_question[i] = [
            e
            for e in found
            if finder(e).search(q) and not (answer and (e.lower() in answer or answer in e.lower()))
        ]
    counts: dict[str, int] = {}
    for es in [*in_passage.values(), *in_question.values()]:
        for e in es:
            if kind(e) in ("name", "code"):
                counts[e] = counts.get(e, 0) + 1
    entities = sorted((e for e, c in counts.items() if c >= 2), key=lambda e: -counts[e])[:40000]
    near = Neighbours(entities, tokenizer, vectors)
    asks: dict[str, list[int]] = {}
    for i, es in in_question.items():
        for e in es:
            if kind(e) == "name":
                asks.setdefault(e, []).append(i)
    out = []
    for i in use:
        r = rows[i]
        _title, text = passages[r["p"]]
        es = in_question[i]
        other = lambda e, avoid: (
            number_like(e, rng) if kind(e) in ("year", "number") else near.draw(e, rng, avoid)
        )
        held = [e for e in es if finder(e).search(text)]
        if held:
            e = rng.choice(held)
            new = other(e, text + r["q"])
            if new:
                changed, _ = swap_text(text, e, new)
                rest = [w for w in e.split() if len(w) > 3 and finder(w).search(changed)]
                if not rest:
                    out.append({"of": i, "y": 0, "src": "adv_pswap", "swap": [e, new]})
                    if (r.get("span") or r.get("ev")) and rng.random() < 0.6:
                        out.append(
                            {
                                "of": i,
                                "y": 1,
                                "src": "pos_swap",
                                "swap": [e, new],
                                "q": finder(e).sub(lambda _: new, r["q"]),
                            }
                        )
        if es:
            e = rng.choice(es)
            local = [
                x
                for x in in_passage[r["p"]]
                if kind(x) == kind(e)
                and x.lower() not in r["q"].lower()
                and e.lower() not in x.lower()
                and not set(x.lower().split()) & set(e.lower().split())
            ]
            answer = text[r["span"][0] : r["span"][1]].lower() if r.get("span") else ""
            local = [
                x
                for x in local
                if not answer or (x.lower() not in answer and answer not in x.lower())
            ]
            new = (
                rng.choice(local)
                if local and rng.random() < 0.5
                else other(e, text + r["q"] if not local else r["q"])
            )
            if new:
                q = finder(e).sub(lambda _: new, r["q"])
                out.append({"of": i, "y": 0, "src": "adv_qswap", "q": q})
        subjects = [
            e for e in (es or in_passage[r["p"]][:3]) if kind(e) == "name" and e in near.index
        ]
        if subjects and r["src"] not in ("docs_def", "docs_api", "qamr", "boolq"):
            e = subjects[0]
            pool = [near.entities[j] for j in near.near[near.index[e]]]
            donors = [
                (x, j)
                for x in pool
                if x != e and x in asks
                for j in asks[x]
                if rows[j]["p"] != r["p"] and rows[j]["src"] == r["src"]
            ]
            if donors:
                x, j = rng.choice(donors)
                q = finder(x).sub(lambda _: e, rows[j]["q"])
                if q.lower() != r["q"].lower():
                    out.append({"of": i, "y": 0, "src": "adv_trans", "q": q})
    return out


def attach(rows: list[dict]) -> None:
    """Gives the rule-made rows of reader_train (adv_q, adv_cut) the row they were made from."""
    by_passage: dict[int, list[int]] = {}
    for i, r in enumerate(rows):
        if r["y"] == 1 and r["src"] != "cloze":
            by_passage.setdefault(r["p"], []).append(i)
    for r in rows:
        if r["src"] in ("adv_q", "adv_cut"):
            words = set(r["q"].lower().split())
            best = max(
                by_passage.get(r["p"], []),
                key=lambda i: (
                    len(words & set(rows[i]["q"].lower().split()))
                    / (len(words | set(rows[i]["q"].lower().split())) or 1)
                ),
                default=None,
            )
            if best is not None:
                r["of"] = best
