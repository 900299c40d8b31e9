# SPDX-License-Identifier: GPL-2.0-or-later
"""RL-CC's policy: a network without biases on the last actions and distances to the target."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from stable_baselines3.common.policies import BasePolicy
from stable_baselines3.common.type_aliases import PyTorchObs
from torch import nn

from ns3_env.decision.rtt_target import RttTarget
from ns3_env.policies.history import Floats, Ints, in_a_row, remembered
from ns3_env.policies.policy import State

#: Inputs of one observation: the last action, and r.
WIDTH = 2


def fields(formula: RttTarget) -> tuple[str, ...]:
    """Telemetry fields of an observation, in order."""
    return ("last_action", *formula.fields)


def inputs(observations: Floats, formula: RttTarget) -> Floats:
    """(..., 2): the last action and r, of observations (..., 3) of ``fields``."""
    distances = formula(
        observations[..., 1].astype(np.float64), observations[..., 2].astype(np.float64)
    ).astype(np.float32)
    return np.stack([observations[..., 0], distances], axis=-1)


class RlccPolicy(BasePolicy):
    """The network, and each flow's history in the state of ``predict``."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Box,
        *,
        formula: RttTarget,
        history_length: int,
        net_arch: Sequence[int],
    ) -> None:
        """
        Args:
            observation_space: Box of shape (3,), of ``fields``.
            action_space: Box of shape (1,).
            formula: definition of r.
            history_length: number of observations that the network reads.
            net_arch: widths of its hidden layers.
        """
        super().__init__(observation_space, action_space, squash_output=True)
        self.formula = formula
        self.history_length = history_length
        widths = [WIDTH * history_length, *net_arch, 1]
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after, bias=False), nn.ReLU()]
        self.mu = nn.Sequential(*layers[:-1], nn.Tanh())

    def forward(self, observation: PyTorchObs, deterministic: bool = False) -> th.Tensor:
        """Actions (n, 1) for rows of history (n, K x 2)."""
        return self._predict(observation, deterministic)

    def _predict(self, observation: PyTorchObs, deterministic: bool = False) -> th.Tensor:
        actions: th.Tensor = self.mu(observation)
        return actions

    def act_on(self, windows: Floats, lengths: Ints) -> Floats:
        """Actions (n, 1) for histories of observations: windows (n, K, 3), lengths (n,)."""
        features = inputs(windows, self.formula)
        with th.inference_mode():
            actions: Floats = self.mu(th.from_numpy(in_a_row(features, lengths))).numpy()
        return actions

    def predict(
        self,
        observation: npt.NDArray[Any] | dict[str, npt.NDArray[Any]],
        state: State | None = None,
        episode_start: npt.NDArray[Any] | None = None,
        deterministic: bool = False,
    ) -> tuple[npt.NDArray[Any], State | None]:
        """See ``ns3_env.policies.policy.Policy``; it is deterministic either way."""
        rows = np.asarray(observation, dtype=np.float32)
        windows, lengths = remembered(rows, self.history_length, state, episode_start)
        return self.act_on(windows, lengths), (windows, lengths)
