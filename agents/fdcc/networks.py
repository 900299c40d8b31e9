# SPDX-License-Identifier: GPL-2.0-or-later
"""How does FDCC read a history? The recurrent actor and critics (Zhang 2023, sec. 4.3 and Fig. 4.2).

Actor and critics have separate LSTM encoders with a shortcut for the current input, zero initial state and
short windows, as Ni et al. 2022 ("Recurrent model-free RL can be a strong baseline for many POMDPs")
recommend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch as th
from gymnasium import spaces
from stable_baselines3.common.policies import BaseModel
from stable_baselines3.common.preprocessing import get_action_dim
from stable_baselines3.common.torch_layers import create_mlp
from torch import nn

from agents.fdcc.history import History


class RecurrentEncoder(nn.Module):
    """(history, extra) -> features: LSTM output at the true length, and a shortcut for the current input."""

    def __init__(self, input_dim: int, extra_dim: int, hidden: int, shortcut: int, compress: bool) -> None:
        """
        Args:
            input_dim: F, width of a history's rows.
            extra_dim: width of what is given beside the history (the action, for a critic).
            hidden: width of the LSTM.
            shortcut: width of the shortcut's layer.
            compress: read sign(x)·ln(1 + |x|) instead of x: telemetry such as a slope in 1/ms spans decades.
        """
        super().__init__()
        self.compress = compress
        self.lstm = nn.LSTM(input_dim, hidden, batch_first=True)
        self.shortcut = nn.Sequential(nn.Linear(input_dim + extra_dim, shortcut), nn.ReLU())
        self.features_dim = hidden + shortcut

    def forward(self, history: History, extra: th.Tensor | None = None) -> th.Tensor:
        """(B, hidden + shortcut)."""
        windows = history.windows
        if self.compress:
            windows = th.sign(windows) * th.log1p(th.abs(windows))
        rows = th.arange(windows.shape[0], device=windows.device)
        last = history.lengths - 1
        outputs, _ = self.lstm(windows)
        current = windows[rows, last]
        if extra is not None:
            current = th.cat([current, extra], dim=1)
        return th.cat([outputs[rows, last], self.shortcut(current)], dim=1)


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
        compress: bool,
    ) -> None:
        super().__init__(observation_space, action_space)
        self.encoder = RecurrentEncoder(input_dim, 0, hidden, shortcut, compress)
        self.mu = nn.Sequential(
            *create_mlp(self.encoder.features_dim, get_action_dim(action_space), list(net_arch))
        )

    def forward(self, history: History) -> th.Tensor:
        """(B, A)."""
        return th.tanh(self.raw(history))

    def raw(self, history: History) -> th.Tensor:
        """(B, A), before tanh."""
        raw: th.Tensor = self.mu(self.encoder(history))
        return raw


class RecurrentCritics(BaseModel):
    """Q_i(history, action), each with an encoder of its own."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Box,
        input_dim: int,
        hidden: int,
        shortcut: int,
        net_arch: Sequence[int],
        compress: bool,
        n_critics: int,
    ) -> None:
        super().__init__(observation_space, action_space)
        action_dim = get_action_dim(action_space)
        self.encoders = nn.ModuleList(
            RecurrentEncoder(input_dim, action_dim, hidden, shortcut, compress) for _ in range(n_critics)
        )
        self.heads = nn.ModuleList(
            nn.Sequential(*create_mlp(hidden + shortcut, 1, list(net_arch))) for _ in range(n_critics)
        )

    def forward(self, history: History, actions: th.Tensor) -> tuple[th.Tensor, ...]:
        """One (B, 1) for each critic."""
        return tuple(
            head(encoder(history, actions)) for encoder, head in zip(self.encoders, self.heads, strict=True)
        )

    def q1_forward(self, history: History, actions: th.Tensor) -> th.Tensor:
        """(B, 1) of the first critic, which the actor climbs."""
        value: th.Tensor = self.heads[0](self.encoders[0](history, actions))
        return value
