# SPDX-License-Identifier: GPL-2.0-or-later
"""One flow's life as a learner stores it: T decisions, T + 1 observations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Trajectory:
    """A flow from its first decision to its end, which is ``terminated`` or else a cut.

    Attributes:
        seed: of its scenario.
        flow: its index in the scenario.
        observations: (T + 1, D) float32.
        actions: (T, A) float32, in the task's action space.
        rewards: (T,) each of the action in the same row.
        elapsed: (T,) base RTTs that each action lasted.
        slowdown: of the flow, see :class:`ns3_env.decision.outcomes.Outcomes`.
        terminated: the flow is done.
        final: nothing follows the last row that would be worth anything.
    """

    seed: int
    flow: int
    observations: NDArray[np.float32]
    actions: NDArray[np.float32]
    rewards: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    slowdown: float
    terminated: bool
    final: bool
