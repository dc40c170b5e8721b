"""MiniLM's layers as ONNX nodes (ONNX Runtime's fused operators), with fp32 or 8-bit matrix products."""

from dataclasses import dataclass

import numpy as np
from onnx import helper, numpy_helper

LAYERS, HEADS, EPSILON = 6, 12, 1e-12
FUSED = "com.microsoft"
WEIGHT_LIMIT = 63  # 7 bits: without VNNI two products of 8-bit numbers overflow the 16-bit sum
STRENGTHS = (0.5, 0.6, 0.7, 0.8, 0.9)


class Graph:
    """Collects the nodes and constants of one graph."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, values) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, operator, inputs, output, domain="", **options) -> str:
        made = helper.make_node(
            operator, inputs, [output], name=f"make.{output}", domain=domain, **options
        )
        self.nodes.append(made)
        return output

    def model(self, name, inputs, outputs):
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="quire")


class Float:
    """Products in fp32."""

    def dense(self, g, name, x, weight):
        return g.node("MatMul", [x, g.constant(f"{name}.weight", weight.T)], f"{name}.out")

    def attention(self, g, name, x, weight, bias):
        operands = [g.constant(f"{name}.weight", weight.T), g.constant(f"{name}.bias", bias)]
        return g.node(
            "Attention",
            [x, *operands, "lengths"],
            f"{name}.out",
            domain=FUSED,
            num_heads=HEADS,
        )


@dataclass(frozen=True)
class Quantized:
    """`x @ weight.T` in 8 bits: x is divided by `smoothing` a channel and the weights multiplied by it (SmoothQuant);
    the activation scale is fixed, so that a passage's logits do not depend on those beside it."""

    smoothing: np.ndarray
    scale: np.float32
    zero: np.uint8
    weight: np.ndarray
    weight_scale: np.ndarray

    @classmethod
    def fit(cls, samples, weight):
        """The smoothing strength that best keeps the product of the samples."""
        some = samples[:: max(1, len(samples) // 512)]
        exact = some @ weight.T
        tried = [cls.smoothed(samples, weight, s) for s in STRENGTHS]
        return min(tried, key=lambda c: float(np.square(c.multiply(some) - exact).mean()))

    @classmethod
    def smoothed(cls, samples, weight, strength):
        seen = np.maximum(np.abs(samples).max(0), 1e-4)
        smoothing = seen**strength / np.maximum(np.abs(weight).max(0), 1e-5) ** (1 - strength)
        x, weight = samples / smoothing, weight * smoothing
        low, high = min(float(x.min()), 0.0), float(x.max())
        scale = (high - low) / 255
        weight_scale = np.abs(weight).max(1) / WEIGHT_LIMIT
        return cls(
            smoothing.astype(np.float32),
            np.float32(scale),
            np.uint8(np.clip(round(-low / scale), 0, 255)),
            np.rint(weight / weight_scale[:, None]).astype(np.int8),
            weight_scale.astype(np.float32),
        )

    def multiply(self, x):
        zero = float(self.zero)
        steps = np.clip(np.rint(x / self.smoothing / self.scale) + zero, 0, 255) - zero
        product = steps.astype(np.float32) @ self.weight.T.astype(np.float32)
        return product * (self.scale * self.weight_scale)


class Int8:
    """8-bit products, fitted to samples of what each of them receives (by tensor name); those in `exact` stay fp32."""

    def __init__(self, samples: dict, exact: tuple[str, ...] = ()):
        self.samples, self.exact = samples, exact

    def operands(self, g, name, x, weight):
        q = Quantized.fit(self.samples[x], weight)
        shrink = g.constant(f"{name}.shrink", (1 / q.smoothing).astype(np.float32))
        scale = g.constant(f"{name}.scale", np.array(q.scale, np.float32))
        zero = g.constant(f"{name}.zero", np.array(q.zero, np.uint8))
        steps = g.node(
            "QuantizeLinear",
            [g.node("Mul", [x, shrink], f"{name}.smoothed"), scale, zero],
            f"{name}.steps",
        )
        weights = g.constant(f"{name}.weight", q.weight.T)
        return steps, weights, scale, g.constant(f"{name}.weight_scale", q.weight_scale), zero

    def dense(self, g, name, x, weight):
        if name.endswith(self.exact) and self.exact:
            return Float().dense(g, name, x, weight)
        operands = list(self.operands(g, name, x, weight))
        return g.node("MatMulIntegerToFloat", operands, f"{name}.out", domain=FUSED)

    def attention(self, g, name, x, weight, bias):
        steps, quantized, scale, weight_scale, zero = self.operands(g, name, x, weight)
        bias = g.constant(f"{name}.bias", bias)
        none = g.constant(f"{name}.weight_zero", np.zeros(len(weight), np.int8))
        return g.node(
            "QAttention",
            [steps, quantized, bias, scale, weight_scale, "lengths", zero, none],
            f"{name}.out",
            domain=FUSED,
            num_heads=HEADS,
        )


def layer(g: Graph, arithmetic, name: str, x: str, w: dict, prefix: str) -> str:
    """One layer of the reader's weights (`model.Layer`)."""

    def normalised(to, value, residual, dense, norm):
        inputs = [
            value,
            residual,
            g.constant(f"{to}.gain", w[f"{prefix}{norm}.weight"]),
            g.constant(f"{to}.shift", w[f"{prefix}{norm}.bias"]),
            g.constant(f"{to}.bias", w[f"{prefix}{dense}.bias"]),
        ]
        return g.node("SkipLayerNormalization", inputs, to, domain=FUSED, epsilon=EPSILON)

    mixed = arithmetic.attention(
        g, f"{name}.attention", x, w[prefix + "qkv.weight"], w[prefix + "qkv.bias"]
    )
    mixed = arithmetic.dense(g, f"{name}.mixed", mixed, w[prefix + "out.weight"])
    attended = normalised(f"{name}.attended", mixed, x, "out", "norm1")
    wide = arithmetic.dense(g, f"{name}.widened", attended, w[prefix + "up.weight"])
    bias = g.constant(f"{name}.widened.bias", w[prefix + "up.bias"])
    active = g.node("BiasGelu", [wide, bias], f"{name}.activated", domain=FUSED)
    narrow = arithmetic.dense(g, f"{name}.narrowed", active, w[prefix + "down.weight"])
    return normalised(f"{name}.output", narrow, attended, "down", "norm2")
