"""Writes the trained reader as ONNX graphs: fp32 and int8 (word vectors and matrix products in 8 bits).

    python export_onnx.py WEIGHTS_DIR [WEIGHTS_DIR …] --pack .data/pack3 --out .data/final

Several folders (or exported int8 graphs) are averaged, with --weights as their shares."""

import argparse
import json
import lzma
from pathlib import Path

import numpy as np
from encode import CLS, SEP, context, question_ids, tokenizer
from onnx import TensorProto, helper, numpy_helper
from onnx_layers import EPSILON, FUSED, LAYERS, Float, Graph, Int8, layer
from safetensors.numpy import load_file


def load(folder: Path) -> dict[str, np.ndarray]:
    parts: dict[str, list] = {}
    for path in sorted(folder.glob("reader-*.safetensors")):
        for name, value in load_file(path).items():
            base, _, place = name.partition("@")
            parts.setdefault(base, []).append((int(place or 0), value.astype(np.float32)))
    return {
        k: np.concatenate([x for _, x in sorted(v, key=lambda p: p[0])]) for k, v in parts.items()
    }


def of_graph(path: Path) -> dict[str, np.ndarray]:
    """The weights of an exported int8 graph, as near as 8 bits hold them."""
    import onnx

    t = {x.name: numpy_helper.to_array(x) for x in onnx.load(path).graph.initializer}
    wide = lambda name: (
        t[f"{name}.weight"].T * t[f"{name}.weight_scale"][:, None] * t[f"{name}.shrink"]
    ).astype(np.float32)
    out = {
        "body.words.weight": t["words"] * t["words.scale"],
        "body.types.weight": t["types"],
        "body.positions.weight": t["positions"],
        "body.norm.weight": t["norm.gain"],
        "body.norm.bias": t["norm.shift"],
    }
    for i in range(LAYERS):
        g, o = f"layer{i}.", f"body.layers.{i}."
        for name, of, bias in (
            ("qkv", "attention", "attention.bias"),
            ("out", "mixed", "attended.bias"),
            ("up", "widened", "widened.bias"),
            ("down", "narrowed", "output.bias"),
        ):
            out[f"{o}{name}.weight"], out[f"{o}{name}.bias"] = wide(g + of), t[g + bias]
        for name, of in (("norm1", "attended"), ("norm2", "output")):
            out[f"{o}{name}.weight"], out[f"{o}{name}.bias"] = (
                t[f"{g}{of}.gain"],
                t[f"{g}{of}.shift"],
            )
    for name in ("token", "pool", "first"):
        out[f"{name}.weight"], out[f"{name}.bias"] = t[f"{name}.w"].T, t[f"{name}.b"]
    return {k: np.array(v, np.float32) for k, v in out.items()}


def build(w: dict, arithmetic, small_words: bool):
    g = Graph()
    words = w["body.words.weight"]
    if small_words:
        scale = (np.abs(words).max(1, keepdims=True) / 127).astype(np.float32)
        rows = g.node(
            "Gather",
            [g.constant("words", np.round(words / scale).astype(np.int8)), "input_ids"],
            "words.rows",
        )
        steps = g.node("Cast", [rows], "words.steps", to=TensorProto.FLOAT)
        word = g.node(
            "Mul",
            [
                steps,
                g.node("Gather", [g.constant("words.scale", scale), "input_ids"], "words.scales"),
            ],
            "word",
        )
    else:
        word = g.node("Gather", [g.constant("words", words), "input_ids"], "word")
    kind = g.node("Gather", [g.constant("types", w["body.types.weight"]), "token_type_ids"], "kind")
    shape = g.node("Shape", ["input_ids"], "length", start=1, end=2)
    zero, axis = (
        g.constant("zero", np.array([0], np.int64)),
        g.constant("axis", np.array([0], np.int64)),
    )
    position = g.node(
        "Slice",
        [g.constant("positions", w["body.positions.weight"]), zero, shape, axis],
        "position",
    )
    x = g.node("Add", [g.node("Add", [word, kind], "word_kind"), position], "summed")
    x = g.node(
        "LayerNormalization",
        [
            x,
            g.constant("norm.gain", w["body.norm.weight"]),
            g.constant("norm.shift", w["body.norm.bias"]),
        ],
        "embedded",
        axis=-1,
        epsilon=EPSILON,
    )
    g.node(
        "ReduceSum",
        ["attention_mask", g.constant("one", np.array([1], np.int64))],
        "lengths",
        keepdims=0,
    )
    for i in range(LAYERS):
        x = layer(g, arithmetic, f"layer{i}", x, w, f"body.layers.{i}.")
    linear = lambda x, name, out: g.node(
        "Add",
        [
            g.node(
                "MatMul", [x, g.constant(f"{name}.w", w[f"{name}.weight"].T)], f"{name}.product"
            ),
            g.constant(f"{name}.b", w[f"{name}.bias"]),
        ],
        out,
    )
    linear(x, "token", "token_logits")
    first = g.node(
        "Slice", [x, zero, g.constant("until", np.array([1], np.int64)), "one"], "first_row"
    )
    first = g.node("Squeeze", [first, "one"], "first_token")
    pooled = g.node("Gelu", [linear(first, "pool", "pooled")], "pooled.active", domain=FUSED)
    linear(pooled, "first", "passage_logits")
    info = lambda name, kind, *more: helper.make_tensor_value_info(name, kind, ["passages", *more])
    return g.model(
        "quire-reader",
        [
            info(name, TensorProto.INT32, "tokens")
            for name in ("input_ids", "token_type_ids", "attention_mask")
        ],
        [
            info("token_logits", TensorProto.FLOAT, "tokens", 3),
            info("passage_logits", TensorProto.FLOAT, 2),
        ],
    )


def calibration(pack: Path, tok, count: int = 160) -> list[tuple[np.ndarray, int]]:
    """Inputs of every source of the training data: (ids, length of the first segment)."""
    data = json.load(lzma.open(pack / "train.json.xz"))
    rng = np.random.default_rng(3)
    by: dict[str, list] = {}
    for r in data["rows"]:
        if r["y"] == 1 and r["src"] != "cloze":
            by.setdefault(r["src"], []).append(r)
    out = []
    while len(out) < count:
        for rows in by.values():
            r = rows[int(rng.integers(len(rows)))]
            p = r["p"] if rng.random() < 0.6 or not r.get("n") else r["n"][0]
            q = question_ids(tok, [r["q"]])[0]
            c = context(tok, *data["P"][p])["ids"]
            out.append((np.concatenate([[CLS], q, [SEP], c, [SEP]]).astype(np.int32), len(q) + 2))
    return out[:count]


def sample(model, inputs) -> dict[str, np.ndarray]:
    """What every matrix product of the fp32 graph's layers receives."""
    import onnxruntime

    names = [
        n.input[0]
        for n in model.graph.node
        if n.op_type in {"Attention", "MatMul"}
        and n.input[0] not in ("first_token", "pooled.active", f"layer{LAYERS - 1}.output")
    ]
    for name in names:
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    got: dict[str, list] = {n: [] for n in names}
    for ids, first in inputs:
        kinds = (np.arange(len(ids)) >= first).astype(np.int32)
        feed = {
            "input_ids": ids[None],
            "token_type_ids": kinds[None],
            "attention_mask": np.ones_like(ids)[None],
        }
        for name, value in zip(names, session.run(names, feed), strict=True):
            got[name].append(value[0][::2])
    return {n: np.concatenate(v) for n, v in got.items()}


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("folders", type=Path, nargs="+")
    ap.add_argument("--weights", type=float, nargs="+")
    ap.add_argument("--pack", type=Path, default=Path(".data/pack3"))
    ap.add_argument("--out", type=Path, default=Path(".data/final"))
    ap.add_argument(
        "--exact", nargs="*", default=[], help="products to leave in fp32, e.g. narrowed"
    )
    ap.add_argument("--fp32-only", action="store_true")
    ap.add_argument(
        "--heads",
        type=float,
        nargs=3,
        default=[1.0, 1.0, 1.0],
        help="factors of start, end and evidence, where they are to keep another reader's spread",
    )
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    shares = args.weights or [1 / len(args.folders)] * len(args.folders)
    loaded = [load(f) if f.is_dir() else of_graph(f) for f in args.folders]
    w = {
        k: sum(s * x[k] for s, x in zip(shares, loaded, strict=True)) / sum(shares)
        for k in loaded[0]
    }
    factors = np.array(args.heads, np.float32)
    w["token.weight"], w["token.bias"] = (
        w["token.weight"] * factors[:, None],
        w["token.bias"] * factors,
    )
    (args.out / "reader-fp32.onnx").write_bytes(build(w, Float(), False).SerializeToString())
    if args.fp32_only:
        return
    tok = tokenizer(args.pack / "tokenizer.json")
    samples = sample(build(w, Float(), False), calibration(args.pack, tok))
    (args.out / "reader-int8.onnx").write_bytes(
        build(w, Int8(samples, tuple(args.exact)), True).SerializeToString()
    )
    for p in sorted(args.out.glob("*.onnx")):
        print(p.name, p.stat().st_size)


if __name__ == "__main__":
    main()
