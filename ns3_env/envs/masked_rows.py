# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollout buffers that know which of their rows are decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch as th
from stable_baselines3.common.buffers import RolloutBuffer

from ns3_env.envs.slots import Mask


class MaskedBufferMixin(RolloutBuffer):
    """What masked rollout buffers have in common: they know which of their rows are decisions.

    ``gamma`` counts per base RTT: a row's discount is gamma^e, e the base RTTs that its decision took.
    Advantages need no mask: a flow's rows lie next to each other, and its last one is an end.
    """

    def __init__(self, *arguments: Any, mask: Mask, **named: Any) -> None:
        """Parameters are those of the buffer that is masked; ``mask`` is the environment's."""
        self.mask = mask
        mask.acknowledge()
        super().__init__(*arguments, **named)

    def reset(self) -> None:
        super().reset()
        self.decided = np.zeros((self.buffer_size, self.n_envs), dtype=np.bool_)
        self.discounts = np.ones((self.buffer_size, self.n_envs), dtype=np.float32)

    def add(self, *arguments: Any, **named: Any) -> None:
        """Adds a row for each slot, and remembers which were decisions."""
        self.decided[self.pos] = self.mask.outcomes()
        self.discounts[self.pos] = self.gamma**self.mask.elapsed
        super().add(*arguments, **named)

    def compute_returns_and_advantage(self, last_values: th.Tensor, dones: npt.NDArray[Any]) -> None:
        """Generalised advantages and returns (Schulman et al. 2016) with each row's own discount."""
        goes_on = 1.0 - np.append(self.episode_starts[1:], np.asarray(dones)[None], axis=0)
        following = np.append(self.values[1:], last_values.cpu().numpy().reshape(1, -1), axis=0)
        deltas = self.rewards + self.discounts * goes_on * following - self.values
        advantage = np.zeros(self.n_envs, dtype=np.float32)
        for step in reversed(range(self.buffer_size)):
            decay = self.discounts[step] * self.gae_lambda * goes_on[step]
            advantage = deltas[step] + decay * advantage
            self.advantages[step] = advantage
        self.returns = self.advantages + self.values

    def flat_decisions(self) -> npt.NDArray[np.bool_]:
        """Which of the rows are decisions, in the order of a full buffer's samples: (buffer_size x n_envs,).

        Raises ValueError where none is: there is nothing to learn from.
        """
        flat: npt.NDArray[np.bool_] = self.swap_and_flatten(self.decided).ravel()
        if not flat.any():
            raise ValueError(
                f"no flow decided in {self.buffer_size} steps of {self.n_envs} slots: raise n_steps"
            )
        return flat
