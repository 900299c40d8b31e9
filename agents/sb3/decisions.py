# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts decisions where Stable-Baselines3 counts rows, those of slots that wait among them."""

from __future__ import annotations

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from ns3_env.envs.slots import Mask


class CountsDecisions(BaseCallback):
    """Takes rows that decided nothing off ``num_timesteps``: budgets, logs and schedules count decisions."""

    def __init__(self, mask: Mask) -> None:
        """
        Args:
            mask: the environment's.
        """
        super().__init__()
        self._mask = mask

    def _on_step(self) -> bool:
        self.model.num_timesteps -= int(np.count_nonzero(~self._mask.decided))
        return True
