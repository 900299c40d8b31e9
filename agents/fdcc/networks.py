# SPDX-License-Identifier: GPL-2.0-or-later
"""Recurrent actor and critics of FDCC (Zhang 2023, sec. 4.3 and Fig. 4.2).

Actor and critics have separate LSTM encoders with a shortcut for the current input, zero initial state and
short windows, as Ni et al. 2022 ("Recurrent model-free RL can be a strong baseline for many POMDPs")
recommend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch as th
from gymnasium import spaces
from stable_baselines3.common.policies import BaseModel
from stable_baselines3.common.preprocessing import get_action_dim
from torch import nn

from ns3_env.agents.fdcc.passes import Reading, passed, read
from ns3_env.agents.fdcc.replay import History


class RecurrentStack(nn.Module):
    """C networks of one shape: an LSTM and a shortcut for the current input, then layers with ReLU.

    Layers are stacked: layer n has ``weights[n]`` (C, out, in) and ``biases[n]`` (C, 1, out); layer 0 is the
    shortcut's.
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
        # Lists of the same parameters: looking them up in modules costs as much as a pass.
        self._lstms: list[th.Tensor] = list(self.lstms.parameters())
        self._layers: list[th.Tensor] = [part for layer in layers for part in layer]

    def answer(self, reading: Reading, current: th.Tensor) -> th.Tensor:
        """(C, B, O), from histories and the shortcut's input (B, F + extra)."""
        return passed(reading, current, self._lstms, self._layers)

    def first(self, reading: Reading, current: th.Tensor) -> th.Tensor:
        """(1, B, O) of the first member, with a gradient only to ``current``."""
        return passed(reading, current, self._lstms[:4], self._layers, frozen=True)


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
        return self.stack.answer(reading, reading.current)[0]


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
        return self.stack.answer(reading, th.cat([reading.current, actions], dim=1))[:, :, 0].T

    def climbed(self, history: History | Reading, actions: th.Tensor) -> th.Tensor:
        """(B, 1) of the first critic, with a gradient only to the actions: the actor's objective."""
        reading = read(history)
        return self.stack.first(reading, th.cat([reading.current, actions], dim=1))[0]
