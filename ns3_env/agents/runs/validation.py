# SPDX-License-Identifier: GPL-2.0-or-later
"""Validation on held-back episodes, played by the simulators without exploration."""

from __future__ import annotations

from collections.abc import Sequence

from ns3_env.agents.trainer.rollout_env import MakeRollouts, local_rollouts
from ns3_env.scenario import Scenario
from ns3_env.task.task import Task

#: Number of a validation's first episode: no episode that is learned from has it, or one after it.
HELD_BACK = 2**32


class Validations:
    """Episodes of their own; nothing is learned from what they play."""

    def __init__(
        self,
        task: Task,
        seed: int,
        simulators: int,
        make_rollouts: MakeRollouts = local_rollouts,
    ) -> None:
        """
        Args:
            task: what is observed, and what decisions are scored by.
            seed: base seed of the episodes.
            simulators: processes.
            make_rollouts: gives them, here or elsewhere.
        """
        self._held_back: list[Scenario] = []
        self._rollouts = make_rollouts(
            task, lambda episode: self._held_back[episode - HELD_BACK], seed, simulators
        )

    def validate(self, policy: bytes, scenarios: Sequence[Scenario]) -> list[float]:
        """Mean reward of the decisions of each scenario, played without exploration on seeds of their own.

        Args:
            policy: its file.
            scenarios: what is played; scenario i has the same seed at every call.

        Raises:
            SimulatorError, ScenarioError: see ``Rollouts.next``.
        """
        self._held_back = list(scenarios)
        self._rollouts.go_on_with(HELD_BACK)
        for _ in scenarios:
            self._rollouts.begin(policy)
        played = [self._rollouts.next() for _ in scenarios]
        return [float(rollout.rewards.sum()) / max(rollout.decisions, 1) for rollout in played]

    def close(self) -> None:
        """Ends the simulators; may be called again."""
        self._rollouts.close()
