"""SmolLM2-135M (Apache-2.0, as GGUF Q4_1), which asks the made questions (`questions.py`). Only these reach the shipped model."""

import struct
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from torch import nn

BEGIN, END = 1, 2  # <|im_start|>, <|im_end|>
PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
F32, Q4_1, Q8_0 = 0, 3, 8


class Gguf:
    """Metadata and dequantised tensors of a GGUF file (F32, Q4_1 and Q8_0 only)."""

    def __init__(self, path: Path):
        self.data = memoryview(path.read_bytes())
        self.at = 8
        assert bytes(self.data[:4]) == b"GGUF"
        tensors, pairs = self.number("Q"), self.number("Q")
        self.meta = {}
        for _ in range(pairs):
            key = self.text()
            self.meta[key] = self.value(self.number("I"))
        self.tensors = {}
        for _ in range(tensors):
            name = self.text()
            shape = [self.number("Q") for _ in range(self.number("I"))][::-1]
            self.tensors[name] = (shape, self.number("I"), self.number("Q"))
        self.base = (self.at + 31) // 32 * 32

    def number(self, form: str):
        size = struct.calcsize("<" + form)
        self.at += size
        return struct.unpack("<" + form, self.data[self.at - size : self.at])[0]

    def text(self) -> str:
        n = self.number("Q")
        self.at += n
        return bytes(self.data[self.at - n : self.at]).decode("utf8", "replace")

    def value(self, kind: int):
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, n = self.number("I"), self.number("Q")
            return [self.value(inner) for _ in range(n)]
        return self.number(PLAIN[kind])

    def __getitem__(self, name: str) -> torch.Tensor:
        shape, kind, offset = self.tensors[name]
        n = int(np.prod(shape))
        size = {F32: 4 * n, Q4_1: n // 32 * 20, Q8_0: n // 32 * 34}[kind]
        raw = np.frombuffer(self.data, np.uint8, size, self.base + offset)
        if kind == F32:
            out = raw.view(np.float32).copy()
        elif kind == Q8_0:
            block = raw.reshape(-1, 34)
            scale = block[:, :2].copy().view(np.float16).astype(np.float32)
            out = block[:, 2:].view(np.int8).astype(np.float32) * scale
        else:
            block = raw.reshape(-1, 20)
            scale, low = (
                block[:, a : a + 2].copy().view(np.float16).astype(np.float32) for a in (0, 2)
            )
            q = block[:, 4:]
            out = np.concatenate([q & 15, q >> 4], 1).astype(np.float32) * scale + low
        return torch.from_numpy(out.reshape(shape))

    def tokenizer(self) -> Tokenizer:
        tokens = self.meta["tokenizer.ggml.tokens"]
        merges = [tuple(m.split(" ")) for m in self.meta["tokenizer.ggml.merges"]]
        t = Tokenizer(models.BPE({w: i for i, w in enumerate(tokens)}, merges))
        t.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
        t.post_processor = processors.ByteLevel(trim_offsets=True)
        t.decoder = decoders.ByteLevel()
        return t


class Block(nn.Module):
    def __init__(self, hidden: int, heads: int, shared: int, inner: int, eps: float):
        super().__init__()
        self.heads, self.shared, self.size = heads, shared, hidden // heads
        self.norm1, self.norm2 = nn.RMSNorm(hidden, eps), nn.RMSNorm(hidden, eps)
        self.qkv = nn.Linear(hidden, (heads + 2 * shared) * self.size, bias=False)
        self.out = nn.Linear(hidden, hidden, bias=False)
        self.gate_up = nn.Linear(hidden, 2 * inner, bias=False)
        self.down = nn.Linear(inner, hidden, bias=False)


class Asker(nn.Module):
    """The weights; `questions.py` runs them."""

    def __init__(self, layers=30, hidden=576, heads=9, shared=3, inner=1536, vocabulary=49152):
        super().__init__()
        self.words = nn.Embedding(vocabulary, hidden)
        self.layers = nn.ModuleList(
            [Block(hidden, heads, shared, inner, 1e-5) for _ in range(layers)]
        )
        self.norm = nn.RMSNorm(hidden, 1e-5)
        half = hidden // heads // 2
        self.register_buffer("turn", 100000.0 ** (-torch.arange(half) / half), persistent=False)

    def load(self, g: Gguf) -> None:
        state = {"words.weight": g["token_embd.weight"], "norm.weight": g["output_norm.weight"]}
        for i in range(len(self.layers)):
            p, o = f"blk.{i}.", f"layers.{i}."
            get = lambda name, p=p: g[f"{p}{name}.weight"]
            state[o + "norm1.weight"], state[o + "norm2.weight"] = get("attn_norm"), get("ffn_norm")
            state[o + "qkv.weight"] = torch.cat([get("attn_q"), get("attn_k"), get("attn_v")])
            state[o + "out.weight"] = get("attn_output")
            state[o + "gate_up.weight"] = torch.cat([get("ffn_gate"), get("ffn_up")])
            state[o + "down.weight"] = get("ffn_down")
        self.load_state_dict(state)
