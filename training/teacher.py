"""The teacher: all-mpnet-base-v2 (Apache-2.0; 110 M parameters) on packed sequences, with the reader's heads.

Its word pieces are the reader's, four numbers further on, so that both read the same batches. Only its outputs reach the shipped
model, through `distil.py`."""

import math

import model
import torch
import torch.nn.functional as F
from encode import CLS, SEP
from torch import nn

HIDDEN, HEADS, INNER = 768, 12, 3072
SHIFT, FIRST, LAST = 4, 0, 2  # of its vocabulary against the reader's; what it has for CLS and SEP
BUCKETS, FAR = 32, 128


class Spread(torch.autograd.Function):
    """Packed rows to their places among padded ones. Going back is a plain look-up, since no two share a place."""

    @staticmethod
    def forward(ctx, x, at, size):
        ctx.save_for_backward(at)
        return x.new_zeros(size, x.shape[1]).index_copy(0, at, x)

    @staticmethod
    def backward(ctx, grad):
        return grad.index_select(0, ctx.saved_tensors[0]), None, None


class Gather(torch.autograd.Function):
    """The way back."""

    @staticmethod
    def forward(ctx, x, at):
        ctx.save_for_backward(at)
        ctx.size = len(x)
        return x.index_select(0, at)

    @staticmethod
    def backward(ctx, grad):
        (at,) = ctx.saved_tensors
        return grad.new_zeros(ctx.size, grad.shape[1]).index_copy(0, at, grad), None


def buckets(longest: int, device) -> torch.Tensor:
    """Which of the learned biases a distance has, [longest, longest]: exact up to 8, then by its logarithm, either way."""
    at = torch.arange(longest, device=device)
    back = at[:, None] - at[None]
    half, exact = BUCKETS // 2, BUCKETS // 4
    n = back.abs()
    far = torch.log(n.clamp_min(1).float() / exact) / math.log(FAR / exact) * (half - exact)
    far = (exact + far.long()).clamp_max(half - 1)
    return (back < 0) * half + torch.where(n < exact, n, far)


class Layer(model.Layer):
    def __init__(self, dropout: float):
        super().__init__(dropout, HIDDEN, INNER, 1e-5)

    def mixed(self, qkv, at, bias):
        n, _, longest, _ = bias.shape
        rows = Spread.apply(qkv, at, n * longest)
        q, k, v = rows.view(n, longest, 3, HEADS, HIDDEN // HEADS).transpose(1, 3).unbind(2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return Gather.apply(y.transpose(1, 2).reshape(n * longest, HIDDEN), at)


class Teacher(nn.Module):
    """Same inputs and outputs as `model.Reader`."""

    def __init__(self, layers: int = 12, dropout: float = 0.0):
        super().__init__()
        self.words = nn.Embedding(30527, HIDDEN)
        self.positions = nn.Embedding(514, HIDDEN)
        self.types = nn.Embedding(2, HIDDEN)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-5)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList([Layer(dropout) for _ in range(layers)])
        self.register_buffer("bias", torch.zeros(BUCKETS, HEADS))
        self.token, self.pool, self.first = (
            nn.Linear(HIDDEN, 3),
            nn.Linear(HIDDEN, HIDDEN),
            nn.Linear(HIDDEN, 2),
        )
        self.calibration = nn.Parameter(torch.tensor([1.0, -2.0]))
        nn.init.zeros_(self.types.weight)
        for layer in (self.token, self.first):
            nn.init.normal_(layer.weight, std=0.02)
            nn.init.zeros_(layer.bias)

    def body(self, ids, position, kind, cu, longest):
        ids = torch.where(ids == CLS, FIRST, torch.where(ids == SEP, LAST, ids + SHIFT))
        x = self.words(ids) + self.positions(position + 2) + self.types(kind)
        x = self.dropout(self.norm(x))
        if torch.is_autocast_enabled(x.device.type):
            x = x.bfloat16()
        length = (cu[1:] - cu[:-1]).long()
        longest = (longest + 7) // 8 * 8
        row = torch.repeat_interleave(torch.arange(len(length), device=x.device), length)
        at = row * longest + position
        seen = torch.arange(longest, device=x.device)[None] < length[:, None]
        bias = self.bias.T[:, buckets(longest, x.device)][None]
        bias = bias.masked_fill(~seen[:, None, None], -1e4).to(x.dtype)
        for layer in self.layers:
            x = layer(x, at, bias)
        return x

    def forward(self, b):
        x = self.body(b["ids"], b["position"], b["kind"], b["cu"], b["longest"])
        first = self.first(F.gelu(self.pool(x[b["cu"][:-1].long()])))
        return self.token(x).float(), first.float()

    def load(self, path: str) -> None:
        t = model.unpacked(path)
        state = {
            "words.weight": t["embeddings.word_embeddings.weight"],
            "positions.weight": t["embeddings.position_embeddings.weight"],
            "norm.weight": t["embeddings.LayerNorm.weight"],
            "norm.bias": t["embeddings.LayerNorm.bias"],
            "bias": t["encoder.relative_attention_bias.weight"],
        }
        for i in range(len(self.layers)):
            p, o = f"encoder.layer.{i}.", f"layers.{i}."
            for s in ("weight", "bias"):
                state[o + "qkv." + s] = torch.cat([t[f"{p}attention.attn.{n}.{s}"] for n in "qkv"])
                state[o + "out." + s] = t[f"{p}attention.attn.o.{s}"]
                state[o + "norm1." + s] = t[f"{p}attention.LayerNorm.{s}"]
                state[o + "up." + s] = t[f"{p}intermediate.dense.{s}"]
                state[o + "down." + s] = t[f"{p}output.dense.{s}"]
                state[o + "norm2." + s] = t[f"{p}output.LayerNorm.{s}"]
        missing = self.load_state_dict(state, strict=False)
        assert not missing.unexpected_keys
