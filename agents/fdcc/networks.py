# SPDX-License-Identifier: GPL-2.0-or-later
"""Recurrent actor and critics of FDCC (Zhang 2023, sec. 4.3 and Fig. 4.2).

Actor and critics have separate LSTM encoders with a shortcut for the current input, zero initial state and
short windows, as Ni et al. 2022 ("Recurrent model-free RL can be a strong baseline for many POMDPs")
recommend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch as th
from gymnasium import spaces
from stable_baselines3.common.policies import BaseModel
from stable_baselines3.common.preprocessing import get_action_dim
from torch import nn

from ns3_env.agents.fdcc.replay import History


class Reading(NamedTuple):
    """A batch of histories in the form that the networks need, made once for all readers of the batch.

    Attributes:
        inputs: (K, B, F), compressed.
        current: (B, F), each history's last input.
        ends: (rows, steps) of the histories' ends, each (B,).
    """

    inputs: th.Tensor
    current: th.Tensor
    ends: tuple[th.Tensor, th.Tensor]


def read(history: History | Reading) -> Reading:
    """The B histories in the form that the networks need, sign(x)·ln(1 + |x|) for x, as telemetry such as a
    slope in 1/ms spans decades. Histories already in it are returned as they are."""
    if isinstance(history, Reading):
        return history
    inputs = history.windows.transpose(0, 1).contiguous()
    inputs = th.copysign(inputs.abs().log1p_(), inputs)
    ends = th.arange(inputs.shape[1], device=inputs.device), history.lengths - 1
    return Reading(inputs, inputs[ends[1], ends[0]], ends)


class RecurrentStack(nn.Module):
    """C networks of one shape: an LSTM and a shortcut for the current input, then layers with ReLU.

    Layers are stacked, so that all networks need one pass: layer n has ``weights[n]`` (C, out, in) and
    ``biases[n]`` (C, 1, out); layer 0 is the shortcut's. PyTorch's LSTM evaluates one network at a time.
    """

    def __init__(
        self,
        members: int,
        input_dim: int,
        extra_dim: int,
        output_dim: int,
        hidden: int,
        shortcut: int,
        net_arch: Sequence[int],
    ) -> None:
        """
        Args:
            members: C.
            input_dim: F, width of a history's rows.
            extra_dim: width of the further input next to the history (the action, for a critic).
            output_dim: O.
            hidden: H, width of the LSTMs.
            shortcut: width of the shortcut's layer.
            net_arch: widths of the layers between encoder and output.
        """
        super().__init__()
        self.lstms = nn.ModuleList(nn.LSTM(input_dim, hidden) for _ in range(members))
        inputs = [input_dim + extra_dim, hidden + shortcut, *net_arch]
        outputs = [shortcut, *net_arch, output_dim]
        layers = [_linear(members, n, m) for n, m in zip(inputs, outputs, strict=True)]
        self.weights = nn.ParameterList(weight for weight, _ in layers)
        self.biases = nn.ParameterList(bias for _, bias in layers)

    def remember(self, reading: Reading, members: int | None = None) -> th.Tensor:
        """(C, B, H), the LSTMs' outputs at the histories' ends; those of the first ``members``, if given."""
        rows, steps = reading.ends
        return th.stack([lstm(reading.inputs)[0][steps, rows] for lstm in self.lstms[:members]])

    def answer(self, remembered: th.Tensor, current: th.Tensor) -> th.Tensor:
        """(C, B, O), from the LSTMs' states and the shortcut's input (B, F + extra)."""
        return answer(remembered, current, list(self.weights), list(self.biases))


def answer(
    remembered: th.Tensor, current: th.Tensor, weights: Sequence[th.Tensor], biases: Sequence[th.Tensor]
) -> th.Tensor:
    """``RecurrentStack.answer`` with other parameters, e.g. those of one of its members."""

    def layer(n: int, features: th.Tensor) -> th.Tensor:
        return th.baddbmm(biases[n], features, weights[n].transpose(1, 2))

    beside = layer(0, current.expand(len(remembered), *current.shape)).relu()
    features = th.cat([remembered, beside], dim=2)
    for n in range(1, len(weights) - 1):
        features = layer(n, features).relu()
    return layer(len(weights) - 1, features)


def _linear(members: int, inputs: int, outputs: int) -> tuple[nn.Parameter, nn.Parameter]:
    """Weights and biases as PyTorch's linear layers start: uniform within ±1/√inputs."""
    bound = 1 / math.sqrt(inputs)
    shapes = (members, outputs, inputs), (members, 1, outputs)
    weight, bias = (nn.Parameter(th.empty(shape).uniform_(-bound, bound)) for shape in shapes)
    return weight, bias


class RecurrentActor(BaseModel):
    """μ(history) in [-1, 1]^A."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Box,
        input_dim: int,
        hidden: int,
        shortcut: int,
        net_arch: Sequence[int],
    ) -> None:
        super().__init__(observation_space, action_space)
        self.stack = RecurrentStack(1, input_dim, 0, get_action_dim(action_space), hidden, shortcut, net_arch)

    def forward(self, history: History | Reading) -> th.Tensor:
        """(B, A)."""
        return th.tanh(self.raw(history))

    def raw(self, history: History | Reading) -> th.Tensor:
        """(B, A), before tanh."""
        reading = read(history)
        return self.stack.answer(self.stack.remember(reading), reading.current)[0]


class RecurrentCritics(BaseModel):
    """Q_i(history, action), each with its own encoder."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Box,
        input_dim: int,
        hidden: int,
        shortcut: int,
        net_arch: Sequence[int],
        n_critics: int,
    ) -> None:
        super().__init__(observation_space, action_space)
        self.stack = RecurrentStack(
            n_critics, input_dim, get_action_dim(action_space), 1, hidden, shortcut, net_arch
        )

    def forward(self, history: History | Reading, actions: th.Tensor) -> th.Tensor:
        """(B, C), each critic's value."""
        reading = read(history)
        current = th.cat([reading.current, actions], dim=1)
        return self.stack.answer(self.stack.remember(reading), current)[:, :, 0].T

    def climbed(self, history: History | Reading, actions: th.Tensor) -> th.Tensor:
        """(B, 1) of the first critic, with a gradient only to the actions: the actor's objective."""
        reading = read(history)
        with th.no_grad():
            remembered = self.stack.remember(reading, members=1)
        current = th.cat([reading.current, actions], dim=1)
        weights, biases = ([p[:1].detach() for p in ps] for ps in (self.stack.weights, self.stack.biases))
        return answer(remembered, current, weights, biases)[0]
