# SPDX-License-Identifier: GPL-2.0-or-later
"""Histories of slots that decide apart (``ns3_env.policies.history``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch as th

from ns3_env.policies.history import Floats, Ints, append


class History(NamedTuple):
    """Histories as the networks read them: windows (B, K, F) float32 and lengths (B,) int64 in 1..K."""

    windows: th.Tensor
    lengths: th.Tensor


class SlotHistories:
    """The windows of all live slots; input = observation, followed by the previous action where asked for."""

    def __init__(
        self, slots: int, length: int, observation_dim: int, action_dim: int, with_last_action: bool
    ) -> None:
        """
        Args:
            slots: number of slots.
            length: K.
            observation_dim: D.
            action_dim: A.
            with_last_action: F = D + A instead of D. Not needed where the observation holds the last action.
        """
        self.windows: Floats = np.zeros(
            (slots, length, observation_dim + (action_dim if with_last_action else 0)), dtype=np.float32
        )
        self.lengths: Ints = np.zeros(slots, dtype=np.int64)
        self.last_actions: Floats = np.zeros((slots, action_dim), dtype=np.float32)
        self.with_last_action = with_last_action

    def forget(self, slots: Ints) -> None:
        """Empties the histories of ``slots``: an episode begins."""
        self.windows[slots] = 0.0
        self.lengths[slots] = 0
        self.last_actions[slots] = 0.0

    def observe(self, slots: Ints, observations: Floats) -> None:
        """Adds ``observations`` (m, D) to the histories of ``slots`` (m,), all different."""
        inputs = observations
        if self.with_last_action:
            inputs = np.concatenate([observations, self.last_actions[slots]], axis=1)
        windows, lengths = self.windows[slots], self.lengths[slots]
        append(windows, lengths, inputs)
        self.windows[slots], self.lengths[slots] = windows, lengths
