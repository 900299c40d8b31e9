# SPDX-License-Identifier: GPL-2.0-or-later
"""What may an algorithm that expects every flow at every step learn from? The slots that were due."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from stable_baselines3.common.buffers import ReplayBuffer


class DueReplayBuffer(ReplayBuffer):
    """Keeps the transitions of slots that are due; a slot without a flow only repeats what it saw last."""

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: th.device | str = "auto",
        n_envs: int = 1,
        optimize_memory_usage: bool = False,
    ) -> None:
        """Parameters are ReplayBuffer's; the slots (``n_envs``) share one ring."""
        super().__init__(buffer_size, observation_space, action_space, device, 1, optimize_memory_usage)
        self.start_collection(n_envs)

    def start_collection(self, slots: int) -> None:
        """Forgets who acted last, not what is stored: the environment was reset."""
        self._acted = np.zeros(slots, dtype=bool)

    def add(
        self,
        obs: npt.NDArray[Any],
        next_obs: npt.NDArray[Any],
        action: npt.NDArray[Any],
        reward: npt.NDArray[Any],
        done: npt.NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Adds the rows of slots that were due, so that their action was taken; infos say who is due next."""
        for i in np.flatnonzero(self._acted):
            row = slice(i, i + 1)
            super().add(obs[row], next_obs[row], action[row], reward[row], done[row], infos[row])
        self._acted = np.array([info.get("due", True) for info in infos])
