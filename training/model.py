"""The reader: MiniLM-L6's body on packed sequences (no padding) with token heads and two heads on the first token."""

import torch
import torch.nn.functional as F
from encode import CLS, SEP
from safetensors.torch import load_file
from torch import nn

try:
    from torch.nn.attention.varlen import varlen_attn
except ImportError:
    varlen_attn = None

HIDDEN, HEADS, LAYERS, INNER = 384, 12, 6, 1536


def padded_attention(q, k, v, cu, longest):
    n = len(cu) - 1
    length = (cu[1:] - cu[:-1]).long()
    row = torch.repeat_interleave(torch.arange(n, device=q.device), length)
    col = torch.arange(len(q), device=q.device) - cu[:-1].long()[row]
    longest = (longest + 7) // 8 * 8
    pad = lambda x: x.new_zeros(n, longest, *x.shape[1:]).index_put((row, col), x).transpose(1, 2)
    mask = (torch.arange(longest, device=q.device)[None] < length[:, None])[:, None, None]
    out = F.scaled_dot_product_attention(pad(q), pad(k), pad(v), attn_mask=mask)
    return out.transpose(1, 2)[row, col]


def attention(q, k, v, cu, longest):
    if varlen_attn is not None and q.is_cuda and q.dtype == torch.bfloat16:
        return varlen_attn(q.contiguous(), k.contiguous(), v.contiguous(), cu, cu, longest, longest)
    return padded_attention(q, k, v, cu, longest)


class Layer(nn.Module):
    def __init__(
        self, dropout: float, hidden: int = HIDDEN, inner: int = INNER, eps: float = 1e-12
    ):
        super().__init__()
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.norm1 = nn.LayerNorm(hidden, eps=eps)
        self.up = nn.Linear(hidden, inner)
        self.down = nn.Linear(inner, hidden)
        self.norm2 = nn.LayerNorm(hidden, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def mixed(self, qkv, cu, longest):
        q, k, v = qkv.view(-1, 3, HEADS, HIDDEN // HEADS).unbind(1)
        return attention(q, k, v, cu, longest).reshape(-1, HIDDEN)

    def forward(self, x, *where):
        x = self.norm1(x + self.dropout(self.out(self.mixed(self.qkv(x), *where))))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Body(nn.Module):
    def __init__(self, dropout: float = 0.1):
        super().__init__()
        self.words = nn.Embedding(30522, HIDDEN)
        self.positions = nn.Embedding(512, HIDDEN)
        self.types = nn.Embedding(2, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList([Layer(dropout) for _ in range(LAYERS)])

    def forward(self, ids, position, kind, cu, longest):
        x = self.dropout(self.norm(self.words(ids) + self.positions(position) + self.types(kind)))
        for layer in self.layers:
            x = layer(x, cu, longest)
        return x


class Reader(nn.Module):
    """token logits [T, 3] (start, end, evidence) and first-token logits [N, 2] (answerable, relevant)."""

    def __init__(self, dropout: float = 0.1):
        super().__init__()
        self.body = Body(dropout)
        self.token = nn.Linear(HIDDEN, 3)
        self.pool = nn.Linear(HIDDEN, HIDDEN)
        self.first = nn.Linear(HIDDEN, 2)
        self.calibration = nn.Parameter(
            torch.tensor([1.0, -2.0])
        )  # of the evidence score as an answerability logit; training only

    def forward(self, b):
        x = self.body(b["ids"], b["position"], b["kind"], b["cu"], b["longest"])
        first = self.first(F.gelu(self.pool(x[b["cu"][:-1].long()])))
        return self.token(x).float(), first.float()


def embed(body, b):
    """Mean of the last layer, unit length: the sentence-transformers embedding."""
    x = body(b["ids"], b["position"], b["kind"], b["cu"], b["longest"]).float()
    n = len(b["cu"]) - 1
    total = x.new_zeros(n, HIDDEN).index_add(0, b["item"], x)
    return F.normalize(total / (b["cu"][1:] - b["cu"][:-1])[:, None], dim=1)


def unpacked(path: str) -> dict[str, torch.Tensor]:
    """Weights as fp32; rows kept in 8 bits (`name.q`) come with a scale each (`name.scale`)."""
    t = load_file(path)
    whole = {k: v.float() for k, v in t.items() if not k.endswith((".q", ".scale"))}
    small = [k.removesuffix(".q") for k in t if k.endswith(".q")]
    return whole | {k: t[k + ".q"].float() * t[k + ".scale"].float() for k in small}


def load_body(body: Body, path: str) -> None:
    t = unpacked(path)
    state = {
        "words.weight": t["embeddings.word_embeddings.weight"],
        "positions.weight": t["embeddings.position_embeddings.weight"],
        "types.weight": t["embeddings.token_type_embeddings.weight"],
        "norm.weight": t["embeddings.LayerNorm.weight"],
        "norm.bias": t["embeddings.LayerNorm.bias"],
    }
    for i in range(LAYERS):
        p, o = f"encoder.layer.{i}.", f"layers.{i}."
        for s in ("weight", "bias"):
            state[o + "qkv." + s] = torch.cat(
                [t[p + f"attention.self.{n}.{s}"] for n in ("query", "key", "value")]
            )
            state[o + "out." + s] = t[p + f"attention.output.dense.{s}"]
            state[o + "norm1." + s] = t[p + f"attention.output.LayerNorm.{s}"]
            state[o + "up." + s] = t[p + f"intermediate.dense.{s}"]
            state[o + "down." + s] = t[p + f"output.dense.{s}"]
            state[o + "norm2." + s] = t[p + f"output.LayerNorm.{s}"]
    body.load_state_dict(state)


# --- segment operations on packed values -------------------------------------------------------------------------------


def segment_lse(x, segment, n):
    """log-sum-exp of x by segment; -1e4 where a segment is empty."""
    top = x.new_full((n,), -1e4).scatter_reduce(0, segment, x.detach(), "amax", include_self=True)
    total = x.new_zeros(n).index_add(0, segment, torch.exp(x - top[segment]))
    return torch.where(total > 0, torch.log(total.clamp_min(1e-20)) + top, top)


def segment_mean(x, segment, n):
    count = x.new_zeros(n).index_add(0, segment, torch.ones_like(x)).clamp_min(1)
    return x.new_zeros(n).index_add(0, segment, x) / count


class Store:
    """Tokenised questions and contexts as flat device tensors; batches are composed by indexing, without a loop."""

    def __init__(self, questions, contexts, device):
        import numpy as np

        flat = lambda xs, dt: torch.from_numpy(np.concatenate(xs).astype(dt)).to(device)
        offs = lambda xs: torch.from_numpy(
            np.concatenate([[0], np.cumsum([len(x) for x in xs])]).astype(np.int64)
        ).to(device)
        self.q, self.q_off = flat(questions, np.int32), offs(questions)
        self.c, self.c_off = (
            flat([c["ids"] for c in contexts], np.int32),
            offs([c["ids"] for c in contexts]),
        )
        self.sentence = flat([c["sentence"] for c in contexts], np.uint8)
        self.head = torch.tensor([c["head"] for c in contexts], device=device)
        self.count = torch.tensor([min(len(c["spans"]), 60) for c in contexts], device=device)
        self.device = device

    def ask(self, questions) -> int:
        """Adds questions; returns the first one's number."""
        import numpy as np

        first = len(self.q_off) - 1
        flat = torch.from_numpy(np.concatenate(questions).astype(np.int32)).to(self.device)
        ends = torch.tensor([len(x) for x in questions], device=self.device).cumsum(0)
        self.q = torch.cat([self.q, flat])
        self.q_off = torch.cat([self.q_off, self.q_off[-1] + ends])
        return first

    def batch(self, q, c, no_title, drop=None):
        """q, c: indices; no_title: bool, leave the heading path out; drop: a sentence to leave out, or -1. The packed batch."""
        ql = self.q_off[q + 1] - self.q_off[q]
        skip = torch.where(no_title, self.head[c], 0)
        cl = self.c_off[c + 1] - self.c_off[c] - skip
        length = ql + cl + 3
        n = len(q)
        cu = torch.zeros(n + 1, dtype=torch.int64, device=self.device)
        torch.cumsum(length, 0, out=cu[1:])
        item = torch.repeat_interleave(torch.arange(n, device=self.device), length)
        position = torch.arange(len(item), device=self.device) - cu[:-1][item]
        qi, ci = ql[item], cl[item]
        in_q = (position >= 1) & (position <= qi)
        at = position - qi - 2
        in_c = (at >= 0) & (at < ci)
        ids = torch.full_like(position, SEP)
        ids[position == 0] = CLS
        ids = torch.where(
            in_q, self.q[(self.q_off[q][item] + position - 1).clamp(0, len(self.q) - 1)].long(), ids
        )
        where = (self.c_off[c][item] + skip[item] + at).clamp(0, len(self.c) - 1)
        ids = torch.where(in_c, self.c[where].long(), ids)
        number = torch.where(in_c, self.sentence[where].long(), 255)
        kind, text_at = (position > qi + 1).long(), at - (self.head[c] - skip)[item]
        if drop is not None:
            keep = number != drop[item]
            ids, item, number, kind, text_at = (x[keep] for x in (ids, item, number, kind, text_at))
            length = torch.bincount(item, minlength=n)
            torch.cumsum(length, 0, out=cu[1:])
            position = torch.arange(len(item), device=self.device) - cu[:-1][item]
        return {
            "ids": ids,
            "position": position,
            "kind": kind,
            "cu": cu.int(),
            "longest": int(length.max()),
            "item": item,
            "number": number,
            "text_at": text_at,
            "n": n,
        }


def plain(rows, device):
    """[CLS] text [SEP] of lists of word pieces, type 0: the embedder's input."""
    import numpy as np

    rows = [np.concatenate([[CLS], r[:254], [SEP]]) for r in rows]
    length = torch.tensor([len(r) for r in rows])
    cu = torch.cat([torch.zeros(1, dtype=torch.int64), torch.cumsum(length, 0)])
    item = torch.repeat_interleave(torch.arange(len(rows)), length)
    position = torch.arange(len(item)) - cu[:-1][item]
    ids = torch.from_numpy(np.concatenate(rows).astype(np.int64))
    b = {
        "ids": ids,
        "position": position,
        "kind": torch.zeros_like(ids),
        "cu": cu.int(),
        "item": item,
    }
    return {
        **{k: v.to(device, non_blocking=True) for k, v in b.items()},
        "longest": int(length.max()),
    }


@torch.no_grad()
def embed_all(body, rows, device, tokens=400_000):
    """Unit vectors of all rows, longest first in packed batches."""
    import numpy as np

    order = np.argsort([-len(r) for r in rows], kind="stable")
    out = torch.empty(len(rows), HIDDEN, device=device)
    i = 0
    while i < len(order):
        step = max(1, tokens // (min(len(rows[order[i]]), 254) + 2))
        pick = order[i : i + step]
        with torch.autocast(device, torch.bfloat16):
            out[torch.from_numpy(pick.copy()).to(device)] = embed(
                body, plain([rows[j] for j in pick], device)
            )
        i += step
    return out
