# SPDX-License-Identifier: GPL-2.0-or-later
"""A proportional controller of the queue as a policy (docs/extending.md)."""

from __future__ import annotations

import numpy as np

from ns3_env.policies.policy import FloatArray, State


class TargetQueue:
    """Grows the window while the bottleneck's queue is below a target, shrinks it above.

    Args:
        target: queue to aim at, in BDPs of the bottleneck hop.
    """

    fields = ("qlen",)  # the queue of the most congested hop / its BDP
    action_map = "multiplicative_window"  # window x (1 + a/2), or / (1 - a/2)

    def __init__(self, target: float = 0.2) -> None:
        self.target = target

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: FloatArray | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """Actions (n, 1) in [-1, 1] for the queues (n, 1)."""
        return np.clip(self.target - observation, -1, 1), state


def make() -> TargetQueue:
    """The factory for ``--policy target-queue=examples.target_queue:make``."""
    return TargetQueue()
