# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds an ONNX graph from a policy's file, operator by operator, without PyTorch.

Inputs: ``observations`` (n, D), or ``history`` (n, K, D), zero-padded at the end, and ``length`` (n,) for a
network that reads a history; values as telemetry has them. Output: ``action`` (n, 1) in [-1, 1]. A network
that carries a state also takes ``h`` and ``c`` (n, H) and gives ``next_h`` and ``next_c``. The properties of
the model's metadata hold the header of the policy's file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from ns3_env.agents.export.formats import Evaluator
from ns3_env.config.files import write_atomically
from ns3_env.decision import observations
from ns3_env.decision.rtt_target import RttTarget
from ns3_env.policies.file import KEY, PolicyFile
from ns3_env.policies.header import Input
from ns3_env.policies.history import Floats, Ints, after_steps
from ns3_env.policies.policy import State
from ns3_env.policies.tensors import layers_of

#: Old enough for the runtimes in use: all operators here are in it.
OPSET, IR_VERSION = 17, 8
_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh"}


class _Graph:
    """Nodes and constants while they are put together; values are known by name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, values: npt.ArrayLike) -> str:
        self.constants[name] = numpy_helper.from_array(np.asarray(values), name)
        return name

    def add(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Adds a node; returns the name of its output."""
        output = name or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output


def write(path: Path, policy: PolicyFile) -> None:
    """Writes the graph, checked. Raises OSError."""
    spec, graph = policy.spec, _Graph()
    width = len(spec.fields)
    if spec.remembers:
        inputs = [
            helper.make_tensor_value_info("history", TensorProto.FLOAT, ["n", spec.history, width]),
            helper.make_tensor_value_info("length", TensorProto.INT64, ["n"]),
        ]
        seen = _transform(graph, policy, "history")
        encode = _encode if spec.network.kind == "lstm" else _in_a_row
        features = encode(graph, policy, seen)
    else:
        inputs = [_floats("observations", width)]
        features = _transform(graph, policy, "observations")
    outputs = [_floats("action", 1)]
    if spec.network.carries:
        hidden = _hidden(policy)
        inputs += [_floats("h", hidden), _floats("c", hidden)]
        outputs += [_floats("next_h", hidden), _floats("next_c", hidden)]
        features = _step(graph, policy, features)
    raw = _layers(graph, policy, features)
    low, high = graph.constant("least", np.float32(-1)), graph.constant("most", np.float32(1))
    graph.add("Clip", raw, low, high, name="action")
    made = helper.make_graph(graph.nodes, "policy", inputs, outputs, list(graph.constants.values()))
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="ns3-env"
    )
    helper.set_model_props(model, {KEY: policy.header()})
    onnx.checker.check_model(model, full_check=True)
    write_atomically(path, model.SerializeToString())


def evaluator(path: Path) -> Evaluator:
    """The graph in a file, run by ONNX Runtime on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    shapes = {value.name: value.shape for value in session.get_inputs()}

    def step(rows: Floats, state: State | None) -> tuple[Floats, State]:
        h, c = 2 * [np.zeros((len(rows), shapes["h"][1]), np.float32)] if state is None else state
        answer = session.run(["action", "next_h", "next_c"], {"observations": rows, "h": h, "c": c})
        return answer[0], (answer[1], answer[2])

    def act(histories: Floats, lengths: Ints) -> Floats:
        if "h" in shapes:
            return after_steps(step, histories, lengths)
        memory = "history" in shapes
        feed = {"history": histories, "length": lengths} if memory else {"observations": histories[:, 0]}
        actions: Floats = session.run(["action"], feed)[0]
        return actions

    return act


def _floats(name: str, width: int) -> onnx.ValueInfoProto:
    """(n, width)."""
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width])


def _transform(graph: _Graph, policy: PolicyFile, values: str) -> str:
    """Telemetry, cut to each field's range, then sign(x)·ln(1 + |x|) where the header says so, or what is
    derived from it."""
    spec = policy.spec
    space = observations.observation_space(spec.fields)
    cut = graph.add("Max", values, graph.constant("low", space.low))
    cut = graph.add("Min", cut, graph.constant("high", space.high))
    plain = {entry.field: entry for entry in spec.observation if isinstance(entry, Input)}
    symlog = np.array([name in plain and plain[name].transform == "symlog" for name in spec.fields])
    seen = cut
    if symlog.any():
        one = graph.constant("one", np.float32(1))
        slow = graph.add("Log", graph.add("Add", graph.add("Abs", cut), one))
        slow = graph.add("Mul", graph.add("Sign", cut), slow)
        seen = slow if symlog.all() else graph.add("Where", graph.constant("symlog", symlog), slow, cut)
    if len(plain) == len(spec.observation):
        return seen
    columns = []
    for number, entry in enumerate(spec.observation):
        taken = seen if isinstance(entry, Input) else cut
        parts = [_column(graph, taken, f"{number}_{name}", spec.fields.index(name)) for name in entry.fields]
        columns += parts if isinstance(entry, Input) else [_rtt_target(graph, entry.formula, number, *parts)]
    return graph.add("Concat", *columns, axis=-1)


def _column(graph: _Graph, values: str, name: str, index: int) -> str:
    """(..., 1) of (..., D)."""
    return graph.add("Gather", values, graph.constant(f"index_{name}", np.array([index], np.int64)), axis=-1)


def _rtt_target(graph: _Graph, formula: RttTarget, number: int, rtt: str, rate: str) -> str:
    """``ns3_env.decision.rtt_target`` of its two fields; ``number`` tells its constants from others'."""

    def setting(name: str, value: float) -> str:
        return graph.constant(f"{name}_{number}", np.float32(value))

    excess = graph.add("Div", rtt, setting("base", formula.base_ns or 1.0))
    excess = graph.add("Relu", graph.add("Sub", excess, setting("margin", formula.margin)))
    product = graph.add("Mul", excess, graph.add("Sqrt", rate))
    distance = graph.add("Sub", product, setting("target", formula.target))
    return graph.add("Mul", distance, setting("gain", formula.gain))


def _in_a_row(graph: _Graph, policy: PolicyFile, inputs: str) -> str:
    """(n, K x D): each history with the current observation last, and zeros before its first."""
    depth, width = policy.spec.history, len(policy.spec.observation)
    length = graph.add("Unsqueeze", "length", graph.constant("second", np.array([1], np.int64)))
    steps = graph.constant("steps", np.arange(depth) - depth)
    at = graph.add("Add", steps, length)  # (n, K), below 0 before a flow's first
    at = graph.add("Unsqueeze", at, graph.constant("third", np.array([2], np.int64)))
    nothing = graph.constant("no_step", np.int64(0))
    shifted = graph.add("GatherND", inputs, graph.add("Max", at, nothing), batch_dims=1)  # (n, K, D)
    missing = graph.add("Less", at, nothing)
    row = graph.add("Where", missing, graph.constant("zero", np.float32(0)), shifted)
    return graph.add("Reshape", row, graph.constant("row", np.array([-1, depth * width], np.int64)))


def _encode(graph: _Graph, policy: PolicyFile, inputs: str) -> str:
    """(n, H + S): the LSTM's output at the history's true length, and the shortcut of the current input."""
    sequence = graph.add("Transpose", inputs, perm=[1, 0, 2])
    outputs = graph.add("LSTM", sequence, *_gates(graph, policy), hidden_size=_hidden(policy))  # (K, 1, n, H)
    outputs = graph.add("Squeeze", outputs, graph.constant("direction", np.array([1], np.int64)))
    outputs = graph.add("Transpose", outputs, perm=[1, 0, 2])
    last = graph.add("Sub", "length", graph.constant("one_row", np.array([1], np.int64)))
    last = graph.add("Unsqueeze", last, graph.constant("column", np.array([1], np.int64)))  # (n, 1)
    remembered = graph.add("GatherND", outputs, last, batch_dims=1)
    current = graph.add("GatherND", inputs, last, batch_dims=1)
    return graph.add("Concat", remembered, _shortcut(graph, policy, current), axis=1)


def _step(graph: _Graph, policy: PolicyFile, inputs: str) -> str:
    """(n, H), or (n, H + S) with a shortcut: the LSTM's output a step after ``h`` and ``c``."""
    first = graph.constant("first", np.array([0], np.int64))
    sequence, h, c = (graph.add("Unsqueeze", value, first) for value in (inputs, "h", "c"))
    graph.nodes.append(
        helper.make_node(
            "LSTM",
            [sequence, *_gates(graph, policy), "", h, c],
            ["", "state_h", "state_c"],
            hidden_size=_hidden(policy),
        )
    )
    remembered = graph.add("Squeeze", "state_h", first, name="next_h")
    graph.add("Squeeze", "state_c", first, name="next_c")
    if "shortcut.weight" not in policy.tensors:
        return remembered
    return graph.add("Concat", remembered, _shortcut(graph, policy, inputs), axis=1)


def _hidden(policy: PolicyFile) -> int:
    return int(policy.tensors["lstm.weight_hh"].shape[1])


def _gates(graph: _Graph, policy: PolicyFile) -> tuple[str, str, str]:
    """The LSTM's weights and biases as ONNX has them: in the order i, o, f, g; the file has i, f, g, o."""

    def ordered(name: str) -> npt.NDArray[np.float32]:
        i, f, g, o = np.split(policy.tensors[name], 4)
        return np.concatenate([i, o, f, g])[None]

    both = np.concatenate([ordered("lstm.bias"), np.zeros((1, 4 * _hidden(policy)), np.float32)], axis=1)
    return (
        graph.constant("lstm.weight_ih", ordered("lstm.weight_ih")),
        graph.constant("lstm.weight_hh", ordered("lstm.weight_hh")),
        graph.constant("lstm.bias", both),
    )


def _shortcut(graph: _Graph, policy: PolicyFile, current: str) -> str:
    """(n, S) of the current input (n, D)."""
    weight, bias = policy.tensors["shortcut.weight"], policy.tensors["shortcut.bias"]
    return graph.add("Relu", _linear(graph, current, "shortcut", weight, bias))


def _layers(graph: _Graph, policy: PolicyFile, values: str) -> str:
    """(n, 1): the layers after the encoder."""
    network, layers = policy.spec.network, layers_of(policy.tensors)
    for number, (weight, bias) in enumerate(layers):
        values = _linear(graph, values, f"layers.{number}", weight, bias)
        if number < len(layers) - 1:
            values = graph.add(_ACTIVATIONS[network.hidden_activation], values)
    return values if network.output_activation == "none" else graph.add("Tanh", values)


def _linear(
    graph: _Graph,
    values: str,
    name: str,
    weight: npt.NDArray[np.float32],
    bias: npt.NDArray[np.float32] | None,
) -> str:
    parts = [values, graph.constant(f"{name}.weight", weight)]
    if bias is not None:
        parts.append(graph.constant(f"{name}.bias", bias))
    return graph.add("Gemm", *parts, transB=1)
