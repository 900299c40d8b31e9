# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds a PyTorch program (.pt2) from a policy's file, for any number of rows.

Inputs: ``observations`` (n, D), or ``history`` (n, K, D), zero-padded at the end, and ``length`` (n,) for a
network that reads a history; values as telemetry has them. Output: ``action`` (n, 1) in [-1, 1]. A network
that carries a state also reads ``h`` and ``c`` (n, H) and gives ``next_h`` and ``next_c``. The archive's
extra file ``ns3_env.policy`` contains the header of the policy's file.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import torch as th
from torch import nn

from ns3_env._native import Formula
from ns3_env.agents.export.formats import Evaluator
from ns3_env.config.files import write_atomically
from ns3_env.decision import observations
from ns3_env.policies.file import KEY, PolicyFile
from ns3_env.policies.header import DerivedInput, Input
from ns3_env.policies.history import Floats, Ints, after_steps
from ns3_env.policies.policy import State
from ns3_env.policies.tensors import layers_of

_ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh}


class Inputs(nn.Module):
    """Telemetry, cut to each field's range, then sign(x)·ln(1 + |x|) if the header requires it, or values
    derived from it."""

    low: th.Tensor
    high: th.Tensor
    symlog: th.Tensor

    def __init__(self, policy: PolicyFile) -> None:
        super().__init__()
        self.entries, self.fields = policy.spec.observation, policy.spec.fields
        space = observations.observation_space(self.fields)
        plain = [entry for entry in self.entries if isinstance(entry, Input)]
        slow = {entry.field for entry in plain if entry.transform == "symlog"}
        self.as_they_are = [entry.field for entry in plain] == list(self.fields)
        self.register_buffer("low", th.from_numpy(space.low))
        self.register_buffer("high", th.from_numpy(space.high))
        self.register_buffer("symlog", th.tensor([name in slow for name in self.fields]))

    def forward(self, values: th.Tensor) -> th.Tensor:
        """(..., inputs) of (..., fields)."""
        cut = th.minimum(th.maximum(values, self.low), self.high)
        features = th.where(self.symlog, th.sign(cut) * th.log1p(th.abs(cut)), cut)
        if self.as_they_are:
            return features
        return th.stack([self._input(entry, cut, features) for entry in self.entries], dim=-1)

    def _input(self, entry: Input | DerivedInput, cut: th.Tensor, features: th.Tensor) -> th.Tensor:
        if isinstance(entry, Input) and entry.field in self.fields:
            return features[..., self.fields.index(entry.field)]
        values = {name: cut[..., self.fields.index(name)] for name in entry.fields}
        if isinstance(entry, Input):
            value = _calculated(observations.formula(entry.field), values)
            return th.sign(value) * th.log1p(th.abs(value)) if entry.transform == "symlog" else value
        formula, (rtt, rate) = entry.formula, values.values()
        excess = th.relu(rtt / (formula.base_ns or 1.0) - formula.margin)
        return formula.gain * (excess * th.sqrt(rate) - formula.target)


_OPERATIONS: dict[str, Callable[..., th.Tensor]] = {
    "+": th.add,
    "-": th.sub,
    "*": th.mul,
    "/": lambda a, b: th.where(b == 0, 0.0, a / th.where(b == 0, 1.0, b)),
    "min": th.minimum,
    "max": th.maximum,
    "abs": th.abs,
    "log": lambda a: th.log(a.clamp(min=Formula.LOG_FLOOR)),
    "exp": th.exp,
}


def _calculated(formula: Formula, values: Mapping[str, th.Tensor]) -> th.Tensor:
    """A formula's value from those of its fields, by the rules of ``ns3_env/cpp/policy/formula.h``."""
    stack: list[th.Tensor] = []
    for step in formula.steps:
        if isinstance(step, float):
            stack.append(th.tensor(step, dtype=th.float64))
        elif step in values:
            stack.append(values[step].double())
        else:
            operands = [stack.pop() for _ in range(1 if step in ("abs", "log", "exp") else 2)]
            result = _OPERATIONS[step](*reversed(operands))
            stack.append(result.clamp(-Formula.STEP_LIMIT, Formula.STEP_LIMIT))
    return stack[0].clamp(-Formula.LIMIT, Formula.LIMIT).float()


class Mlp(nn.Module):
    """(n, D) to (n, 1)."""

    def __init__(self, policy: PolicyFile) -> None:
        super().__init__()
        self.inputs, self.layers = Inputs(policy), _layers(policy)

    def forward(self, observations: th.Tensor) -> th.Tensor:
        """Actions in [-1, 1]."""
        return self.answer(self.inputs(observations))

    def answer(self, features: th.Tensor) -> th.Tensor:
        """Actions in [-1, 1], from the layers' inputs."""
        actions: th.Tensor = self.layers(features)
        return actions.clamp(-1.0, 1.0)


class MlpWithHistory(Mlp):
    """(n, K, D) and (n,) to (n, 1)."""

    def forward(self, history: th.Tensor, length: th.Tensor) -> th.Tensor:  # type: ignore[override]
        """Actions in [-1, 1], of the history with the current observation last."""
        inputs = self.inputs(history)
        depth, width = inputs.shape[1:]
        # Below 0 before a flow's first.
        at = th.arange(depth, device=history.device) + length[:, None] - depth
        at = at[:, :, None].expand(-1, -1, width)
        return self.answer(th.where(at >= 0, inputs.gather(1, at.clamp(min=0)), 0.0).flatten(1))


class Lstm(Mlp):
    """(n, K, D) and (n,) to (n, 1)."""

    def __init__(self, policy: PolicyFile) -> None:
        super().__init__(policy)
        tensors = policy.tensors
        self.shortcut: nn.Linear | None = None
        if "shortcut.weight" in tensors:
            self.shortcut = _linear(tensors["shortcut.weight"], tensors["shortcut.bias"])
        self.weight_ih = nn.Parameter(th.from_numpy(tensors["lstm.weight_ih"]))
        self.weight_hh = nn.Parameter(th.from_numpy(tensors["lstm.weight_hh"]))
        self.bias = nn.Parameter(th.from_numpy(tensors["lstm.bias"]))

    def forward(self, history: th.Tensor, length: th.Tensor) -> th.Tensor:  # type: ignore[override]
        """Actions in [-1, 1]."""
        inputs = self.inputs(history)
        start = inputs.new_zeros(inputs.shape[0], self.weight_hh.shape[1])
        outputs, _, _ = self.encode(inputs, start, start)
        rows, last = th.arange(history.shape[0], device=history.device), length - 1
        return self.behind(outputs[rows, last], inputs[rows, last])

    def encode(self, inputs: th.Tensor, h: th.Tensor, c: th.Tensor) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Outputs (n, K, H), and the last hidden state and cell (n, H), of inputs (n, K, D)."""
        # nn.LSTM keeps a second bias, and a list of its weights that torch.export warns of.
        weights = [self.weight_ih, self.weight_hh, self.bias, th.zeros_like(self.bias)]
        outputs, h, c = th.lstm(inputs, (h[None], c[None]), weights, True, 1, 0.0, False, False, True)
        return outputs, h[0], c[0]

    def behind(self, output: th.Tensor, current: th.Tensor) -> th.Tensor:
        """Actions in [-1, 1], of the LSTM's output (n, H) and the current input (n, D)."""
        if self.shortcut is not None:
            output = th.cat([output, th.relu(self.shortcut(current))], dim=1)
        return self.answer(output)


class CarriedLstm(Lstm):
    """(n, D), (n, H) and (n, H) to (n, 1), (n, H) and (n, H)."""

    def forward(  # type: ignore[override]
        self, observations: th.Tensor, h: th.Tensor, c: th.Tensor
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Actions in [-1, 1], hidden state and cell after a step."""
        inputs = self.inputs(observations)
        _, h, c = self.encode(inputs[:, None], h, c)
        return self.behind(h, inputs), h, c


def export_program(policy: PolicyFile) -> th.export.ExportedProgram:
    """The network as a program of any number of rows; its inputs are named as ``forward``'s arguments."""
    rows, spec = 2, policy.spec
    histories = th.zeros(rows, spec.history, len(spec.fields))
    module: nn.Module
    inputs: dict[str, th.Tensor]
    if spec.network.carries:
        state = th.zeros(rows, policy.tensors["lstm.weight_hh"].shape[1])
        module, inputs = (
            CarriedLstm(policy),
            {"observations": histories[:, 0], "h": state, "c": state.clone()},
        )
    elif spec.remembers:
        module = Lstm(policy) if spec.network.kind == "lstm" else MlpWithHistory(policy)
        inputs = {"history": histories, "length": th.ones(rows, dtype=th.int64)}
    else:
        module, inputs = Mlp(policy), {"observations": histories[:, 0]}
    batch = {0: th.export.Dim("n")}
    return th.export.export(
        module.eval(), tuple(inputs.values()), dynamic_shapes=dict.fromkeys(inputs, batch)
    )


def write(path: Path, policy: PolicyFile) -> None:
    """Writes the program. Raises OSError."""
    content = io.BytesIO()
    th.export.save(export_program(policy), content, extra_files={KEY: policy.header()})
    write_atomically(path, content.getvalue())


def evaluator(path: Path) -> Evaluator:
    """The program in a file that this process wrote."""
    program = th.export.load(path)
    module = program.module()
    inputs_taken = len(program.graph_signature.user_inputs)
    hidden = {name: tensor.shape for name, tensor in program.state_dict.items()}.get("weight_hh", (0, 0))[1]

    def step(rows: Floats, state: State | None) -> tuple[Floats, State]:
        h, c = 2 * [np.zeros((len(rows), hidden), np.float32)] if state is None else state
        with th.inference_mode():
            action, h, c = (part.numpy() for part in module(*map(th.from_numpy, (rows, h, c))))
        return action, (h, c)

    def act(histories: Floats, lengths: Ints) -> Floats:
        if inputs_taken == 3:
            return after_steps(step, histories, lengths)
        inputs = (th.from_numpy(histories), th.from_numpy(lengths))
        with th.inference_mode():
            actions: Floats = (module(*inputs) if inputs_taken == 2 else module(inputs[0][:, 0])).numpy()
        return actions

    return act


def _layers(policy: PolicyFile) -> nn.Sequential:
    network, modules = policy.spec.network, list[nn.Module]()
    for weight, bias in layers_of(policy.tensors):
        if modules:
            modules.append(_ACTIVATIONS[network.hidden_activation]())
        modules.append(_linear(weight, bias))
    return nn.Sequential(*modules, *([nn.Tanh()] if network.output_activation == "tanh" else []))


def _linear(weight: Floats, bias: Floats | None) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None)
    with th.no_grad():
        layer.weight.copy_(th.from_numpy(weight))
        if bias is not None:
            layer.bias.copy_(th.from_numpy(bias))
    return layer
