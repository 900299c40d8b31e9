# SPDX-License-Identifier: GPL-2.0-or-later
"""How does a learner train on episodes that are played inside the simulators? An environment of whole
episodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ns3_env.agents.training.config import EnvConfig
from ns3_env.agents.training.spaces_only import SpacesOnly
from ns3_env.rewards import Reward
from ns3_env.rollouts import Exploration, Rollout, Rollouts
from ns3_env.scenario import Scenario

#: Episodes that are played ahead, under the policy as it was then. A constant: with another one, a run with
#: the same seed would learn from other transitions.
AHEAD = 4
#: Number of a validation's first episode: no episode that is learned from has it, or one after it.
HELD_BACK = 2**32


class RolloutEnv(SpacesOnly):
    """The spaces of ``RdmaVecEnv``, and episodes instead of steps.

    The policy that plays episode n has learned from the episodes up to n - ``AHEAD``, and from no other:
    simulators play while the learner learns, and what they play does not hang on which of them is faster.
    """

    def __init__(
        self, env: EnvConfig, sampler: Callable[[int], Scenario], reward: Reward, seed: int, simulators: int
    ) -> None:
        """
        Args:
            env: fields, action map and telemetry.
            sampler: scenario of each episode.
            reward: the reward.
            seed: base seed of the episodes.
            simulators: processes; more than ``AHEAD`` are of no use.
        """
        super().__init__(env.fields, env.action.name, 1)
        self.rollouts = Rollouts(
            sampler,
            num_simulators=min(simulators, AHEAD),
            fields=env.fields,
            reward=reward,
            seed=seed,
            hang_timeout_s=env.hang_timeout_s,
        )
        self.results: list[tuple[int, dict[str, Any]]] = []  # of the last episode
        self.held_back: list[Scenario] = []
        self.validations = Rollouts(
            lambda episode: self.held_back[episode - HELD_BACK],
            num_simulators=self.rollouts.num_simulators,
            fields=env.fields,
            reward=reward,
            seed=seed,
            hang_timeout_s=env.hang_timeout_s,
        )

    #: What the run's log counts by: all episodes come from one place.
    num_simulators = 1
    slots = 1

    def next(self, policy: Callable[[], bytes], exploration: Exploration) -> Rollout:
        """The next episode.

        Args:
            policy: the policy's file as it is now, for episodes that begin now.
            exploration: theirs.

        Raises:
            SimulatorError, ScenarioError: see ``Rollouts.next``.
        """
        missing = AHEAD - self.rollouts.pending
        now = policy() if missing > 0 else b""
        for _ in range(missing):
            self.rollouts.begin(now, exploration)
        rollout = self.rollouts.next()
        self.results = [(0, rollout.results)]
        return rollout

    def validate(self, policy: bytes, scenarios: Sequence[Scenario]) -> list[float]:
        """Mean reward of the decisions of each scenario, played without exploration on seeds of their own.

        Args:
            policy: its file.
            scenarios: what is played; scenario i has the same seed at every call.

        Raises:
            SimulatorError, ScenarioError: see ``Rollouts.next``.
        """
        self.held_back = list(scenarios)
        self.validations.go_on_with(HELD_BACK)
        for _ in scenarios:
            self.validations.begin(policy)
        played = [self.validations.next() for _ in scenarios]
        return [float(rollout.rewards.sum()) / max(rollout.decisions, 1) for rollout in played]

    @property
    def next_episodes(self) -> list[int]:
        """Number of the episode that begins next."""
        return [self.rollouts.next_episode]

    def go_on_with(self, episodes: Sequence[int]) -> None:
        """The next episode has the largest of these numbers."""
        self.rollouts.go_on_with(max(episodes))

    def reset(self) -> np.ndarray:
        """Gives up the episodes that are played ahead. Zeros: nothing has been observed."""
        self.rollouts.give_up()
        assert self.observation_space.shape is not None
        return np.zeros((1, *self.observation_space.shape), dtype=np.float32)

    def close(self) -> None:
        """Ends the simulators; may be called again."""
        self.rollouts.close()
        self.validations.close()
