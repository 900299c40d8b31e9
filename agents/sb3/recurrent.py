# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies of sb3-contrib's RecurrentPPO, with a state for each flow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.policies import BasePolicy

from ns3_env.agents.training.trainer import Sb3Policy
from ns3_env.policies.policy import FloatArray, State


class RecurrentSb3Policy(Sb3Policy):
    """An ``Sb3Policy`` whose state, hidden and cell (n, layers, H), has a row for each flow.

    sb3-contrib has the layers first.
    """

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        actions, after = super().predict(observation, _swapped(state), episode_start, deterministic)
        return actions, _swapped(after)


def is_recurrent(policy: BasePolicy) -> bool:
    """Whether the policy hands a state from decision to decision."""
    return hasattr(policy, "lstm_actor")


def _swapped(state: State | None) -> State | None:
    return None if state is None else tuple(part.swapaxes(0, 1) for part in state)
