# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario sampler of tasks: each episode draws one of them, and a training scenario of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ns3_env.scenario import Scenario
from ns3_env.tasks.networks import task


class TaskSampler:
    """Training scenarios of several tasks, each task as often as the others.

    Attributes:
        most_flows: flows under the agent in the largest scenario.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """Raises ValueError for a task that there is not."""
        self._tasks = [task(name) for name in names]
        self.most_flows = max(spec.slots for spec in self._tasks)

    def __call__(self, episode: int, random: np.random.Generator) -> Scenario:
        """A training scenario; see :class:`ns3_env.agents.curriculum.sampler.ScenarioSampler`."""
        chosen = self._tasks[int(random.integers(len(self._tasks)))]
        return chosen.training(int(random.integers(2**31)))
