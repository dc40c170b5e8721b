"""The MiniLM-L6 encoder as an ONNX graph: written from its weights, quantised, and run.

The graphs use ONNX Runtime's fused operators (`com.microsoft`), so they run there and nowhere else.
`onnx` is imported only by the functions that write a graph, `onnxruntime` only by `GraphRunner`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quire.errors import ModelFilesError

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

LAYERS = 6
HEADS = 12
HIDDEN = 384
EPSILON = 1e-12
FUSED = "com.microsoft"

Weights: TypeAlias = Mapping[str, NDArray[np.float32]]
Floats: TypeAlias = NDArray[np.float32]
TokenIds: TypeAlias = Sequence[int]


class _GraphWriter:
    """Collects the nodes and constants of one graph."""

    def __init__(self) -> None:
        self._nodes: list[NodeProto] = []
        self._constants: list[TensorProto] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(
        self, operator: str, inputs: Sequence[str], *outputs: str, domain: str = "", **options: Any
    ) -> str:
        """Add a node and return the name of its first output."""
        from onnx import helper

        self._nodes.append(
            helper.make_node(
                operator, inputs, outputs, name=f"make.{outputs[0]}", domain=domain, **options
            )
        )
        return outputs[0]

    def model(self) -> ModelProto:
        from onnx import TensorProto, helper

        tokens = ["texts", "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "minilm-l6-v2",
            [
                helper.make_tensor_value_info("input_ids", TensorProto.INT32, tokens),
                helper.make_tensor_value_info("attention_mask", TensorProto.INT32, tokens),
            ],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["texts", HIDDEN])],
            self._constants,
        )
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(FUSED, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="quire")


class _Arithmetic(Protocol):
    """How the matrix products, nearly all of the work, are computed.

    `name` is the prefix of what is added to the graph; `weight` is (outputs, inputs).
    """

    def dense(self, graph: _GraphWriter, name: str, x: str, weight: Floats) -> str: ...

    def attention(
        self, graph: _GraphWriter, name: str, x: str, weight: Floats, bias: Floats
    ) -> str: ...


class _FloatArithmetic:
    def dense(self, graph: _GraphWriter, name: str, x: str, weight: Floats) -> str:
        return graph.node("MatMul", [x, graph.constant(f"{name}.weight", weight.T)], f"{name}.out")

    def attention(
        self, graph: _GraphWriter, name: str, x: str, weight: Floats, bias: Floats
    ) -> str:
        return graph.node(
            "Attention",
            [
                x,
                graph.constant(f"{name}.weight", weight.T),
                graph.constant(f"{name}.bias", bias),
                "lengths",
            ],
            f"{name}.out",
            domain=FUSED,
            num_heads=HEADS,
        )


@dataclass(frozen=True)
class _QuantizedProduct:
    """One matrix product in 8 bits: `x @ weight.T` for activations x like the samples.

    Channels of x differ in range by orders of magnitude, and one scale for all of them would
    lose the small ones. So x is first divided by `smoothing`, one number a channel, and the
    weights are multiplied by it (SmoothQuant). The activation scale is fixed here rather than
    taken from each batch: a text's vector then doesn't depend on the texts beside it.
    """

    smoothing: Floats
    scale: np.float32
    zero: np.uint8
    weight: NDArray[np.int8]
    weight_scale: Floats

    # 7 bits: where the CPU has no VNNI, two products of 8-bit numbers overflow the 16-bit sum.
    WEIGHT_LIMIT = 63
    STRENGTHS = (0.5, 0.6, 0.7, 0.8, 0.9)

    @classmethod
    def fit(cls, samples: Floats, weight: Floats) -> _QuantizedProduct:
        """The smoothing strength that best keeps the product of the samples."""
        some = samples[:: max(1, len(samples) // 512)]
        exact = some @ weight.T
        candidates = [cls._smoothed(samples, weight, strength) for strength in cls.STRENGTHS]
        return min(candidates, key=lambda c: float(np.square(c.multiply(some) - exact).mean()))

    @classmethod
    def _smoothed(cls, samples: Floats, weight: Floats, strength: float) -> _QuantizedProduct:
        activation_range = np.maximum(np.abs(samples).max(axis=0), 1e-4)
        weight_range = np.maximum(np.abs(weight).max(axis=0), 1e-5)
        smoothing = activation_range**strength / weight_range ** (1 - strength)
        smoothed = samples / smoothing
        low, high = min(float(smoothed.min()), 0.0), float(smoothed.max())
        scale = (high - low) / 255
        weight = weight * smoothing
        weight_scale = np.abs(weight).max(axis=1) / cls.WEIGHT_LIMIT
        return cls(
            smoothing.astype(np.float32),
            np.float32(scale),
            np.uint8(np.clip(round(-low / scale), 0, 255)),
            np.rint(weight / weight_scale[:, None]).astype(np.int8),
            weight_scale.astype(np.float32),
        )

    def multiply(self, x: Floats) -> Floats:
        """What the quantised graph will compute for `x`."""
        zero = float(self.zero)
        steps = np.clip(np.rint(x / self.smoothing / self.scale) + zero, 0, 255) - zero
        product = steps.astype(np.float32) @ self.weight.T.astype(np.float32)
        return (product * (self.scale * self.weight_scale)).astype(np.float32)


class _Int8Arithmetic:
    """8-bit products, fitted to samples of what each of them receives (by tensor name)."""

    def __init__(self, samples: Mapping[str, Floats]) -> None:
        self._samples = samples

    def dense(self, graph: _GraphWriter, name: str, x: str, weight: Floats) -> str:
        steps, quantized, scale, weight_scale, zero = self._operands(graph, name, x, weight)
        return graph.node(
            "MatMulIntegerToFloat",
            [steps, quantized, scale, weight_scale, zero],
            f"{name}.out",
            domain=FUSED,
        )

    def attention(
        self, graph: _GraphWriter, name: str, x: str, weight: Floats, bias: Floats
    ) -> str:
        steps, quantized, scale, weight_scale, zero = self._operands(graph, name, x, weight)
        bias_name = graph.constant(f"{name}.bias", bias)
        weight_zero = graph.constant(f"{name}.weight_zero", np.zeros(len(bias), np.int8))
        return graph.node(
            "QAttention",
            [steps, quantized, bias_name, scale, weight_scale, "lengths", zero, weight_zero],
            f"{name}.out",
            domain=FUSED,
            num_heads=HEADS,
        )

    def _operands(
        self, graph: _GraphWriter, name: str, x: str, weight: Floats
    ) -> tuple[str, str, str, str, str]:
        product = _QuantizedProduct.fit(self._samples[x], weight)
        shrink = graph.constant(f"{name}.shrink", (1 / product.smoothing).astype(np.float32))
        smoothed = graph.node("Mul", [x, shrink], f"{name}.smoothed")
        scale = graph.constant(f"{name}.scale", np.array(product.scale, np.float32))
        zero = graph.constant(f"{name}.zero", np.array(product.zero, np.uint8))
        return (
            graph.node("QuantizeLinear", [smoothed, scale, zero], f"{name}.steps"),
            graph.constant(f"{name}.weight", product.weight.T),
            scale,
            graph.constant(f"{name}.weight_scale", product.weight_scale),
            zero,
        )


def float_graph(weights: Weights) -> bytes:
    """The encoder in fp32: token ids and their mask in, unit-length sentence vectors out."""
    return _encoder(weights, _FloatArithmetic()).SerializeToString()


def int8_graph(weights: Weights, calibration: Sequence[TokenIds]) -> bytes:
    """The encoder with 8-bit matrix products, its scales taken from the calibration texts."""
    return _encoder(weights, _Int8Arithmetic(_sample(weights, calibration))).SerializeToString()


def _encoder(weights: Weights, arithmetic: _Arithmetic) -> ModelProto:
    graph = _GraphWriter()
    x = _embeddings(graph, weights)
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}."
        part = {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}
        x = _layer(graph, arithmetic, f"layer{layer}", x, part)
    _pooling(graph, x)
    return graph.model()


def _embeddings(graph: _GraphWriter, weights: Weights) -> str:
    # Every text is a single segment, so its segment's vector is a part of the position's.
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    inputs = [
        "input_ids",
        "",
        graph.constant("words", weights["embeddings.word_embeddings.weight"]),
        graph.constant("positions", weights["embeddings.position_embeddings.weight"] + segment),
        "",
        graph.constant("embedded.gain", weights["embeddings.LayerNorm.weight"]),
        graph.constant("embedded.shift", weights["embeddings.LayerNorm.bias"]),
        "attention_mask",
    ]
    return graph.node(
        "EmbedLayerNormalization", inputs, "embedded", "lengths", domain=FUSED, epsilon=EPSILON
    )


def _layer(graph: _GraphWriter, arithmetic: _Arithmetic, name: str, x: str, part: Weights) -> str:
    heads = [f"attention.self.{role}" for role in ("query", "key", "value")]
    context = arithmetic.attention(
        graph,
        f"{name}.attention",
        x,
        np.concatenate([part[f"{head}.weight"] for head in heads]),
        np.concatenate([part[f"{head}.bias"] for head in heads]),
    )
    mixed = arithmetic.dense(graph, f"{name}.mixed", context, part["attention.output.dense.weight"])
    attended = _add_and_normalise(graph, f"{name}.attended", mixed, x, part, "attention.output")
    widened = arithmetic.dense(
        graph, f"{name}.widened", attended, part["intermediate.dense.weight"]
    )
    bias = graph.constant(f"{name}.widened.bias", part["intermediate.dense.bias"])
    activated = graph.node("BiasGelu", [widened, bias], f"{name}.activated", domain=FUSED)
    narrowed = arithmetic.dense(graph, f"{name}.narrowed", activated, part["output.dense.weight"])
    return _add_and_normalise(graph, f"{name}.output", narrowed, attended, part, "output")


def _add_and_normalise(
    graph: _GraphWriter, name: str, x: str, residual: str, part: Weights, block: str
) -> str:
    inputs = [
        x,
        residual,
        graph.constant(f"{name}.gain", part[f"{block}.LayerNorm.weight"]),
        graph.constant(f"{name}.shift", part[f"{block}.LayerNorm.bias"]),
        graph.constant(f"{name}.bias", part[f"{block}.dense.bias"]),
    ]
    return graph.node("SkipLayerNormalization", inputs, name, domain=FUSED, epsilon=EPSILON)


def _pooling(graph: _GraphWriter, x: str) -> None:
    """Mean over the tokens that are not padding, scaled to length one."""
    axis = graph.constant("token_axis", np.array([1], np.int64))
    mask = graph.node("CastLike", ["attention_mask", x], "mask")
    row = graph.node("Unsqueeze", [mask, axis], "mask.row")
    total = graph.node("Squeeze", [graph.node("MatMul", [row, x], "total.row"), axis], "total")
    count = graph.node("ReduceSum", [mask, axis], "count", keepdims=1)
    mean = graph.node("Div", [total, count], "mean")
    graph.node("LpNormalization", [mean], "embedding", axis=-1, p=2)


def _sample(weights: Weights, texts: Sequence[TokenIds]) -> dict[str, Floats]:
    """What every matrix product of the fp32 encoder receives for the texts, (tokens, channels)."""
    from onnx import TensorProto, helper

    model = _encoder(weights, _FloatArithmetic())
    products = [node for node in model.graph.node if node.op_type in {"Attention", "MatMul"}]
    # The last product is the pooling, which stays in fp32.
    names = [node.input[0] for node in products[:-1]]
    model.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names
    )
    runner = GraphRunner(model.SerializeToString())
    samples = [runner.run([ids], *names) for ids in texts]
    return {
        name: np.concatenate([values[place][0] for values in samples])
        for place, name in enumerate(names)
    }


class GraphRunner:
    """An ONNX Runtime session for one graph; safe to call from several threads at once.

    Args:
        graph: The graph, or the file it is in.
        threads: How many cores one call may use; all of them by default.

    Raises:
        ModelFilesError: The file is missing or is no graph.
    """

    def __init__(self, graph: Path | bytes, threads: int | None = None) -> None:
        self._session = open_session(graph, threads)

    def embed(self, texts: Sequence[TokenIds]) -> Floats:
        """One unit-length vector a text; the texts are padded to the longest of them."""
        return self.run(texts, "embedding")[0]

    def run(self, texts: Sequence[TokenIds], *outputs: str) -> list[Floats]:
        """The named tensors of the graph for a batch of texts."""
        longest = max(map(len, texts))
        ids = np.zeros((len(texts), longest), np.int32)
        mask = np.zeros_like(ids)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = 1
        return self._session.run(list(outputs), {"input_ids": ids, "attention_mask": mask})


def open_session(
    graph: Path | bytes, threads: int | None = None, *, remedy: str = "run `quire models pull`"
) -> Any:
    """An ONNX Runtime session on the CPU; raises `ModelFilesError` if there is no such graph."""
    # ONNX Runtime has no types for what is used here.
    onnxruntime: Any = import_module("onnxruntime")
    failures: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or 0
    # Idle threads sleep: spinning costs a quarter more CPU, which others here could use.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(
            graph if isinstance(graph, bytes) else str(graph),
            options,
            providers=["CPUExecutionProvider"],
        )
    except (
        failures.Fail,
        failures.InvalidGraph,
        failures.InvalidProtobuf,
        failures.NoSuchFile,
    ) as error:
        place = "the graph" if isinstance(graph, bytes) else graph
        raise ModelFilesError(f"can't load {place}: {remedy}") from error
