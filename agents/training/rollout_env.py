# SPDX-License-Identifier: GPL-2.0-or-later
"""Training environments without steps: of whole episodes run in simulators, and with spaces only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.configuration.inputs import make_task
from ns3_env.decision import observations
from ns3_env.decision.actions import make_action_map
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import SILENT_EPISODES, never_decides
from ns3_env.envs.rollouts import EpisodeQueue, Exploration, Rollout, Rollouts
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario

#: Gives up to N simulators for the episodes of a sampler: (task, sampler, seed, simulators, plays).
MakeRollouts = Callable[[Task, Callable[[int], Scenario], int, int, int], EpisodeQueue]


def local_rollouts(
    task: Task, sampler: Callable[[int], Scenario], seed: int, simulators: int, plays: int
) -> EpisodeQueue:
    """Processes of this machine."""
    return Rollouts(sampler, num_simulators=simulators, task=task, seed=seed, plays=plays)


@contextmanager
def players_of(env: EnvConfig) -> Iterator[MakeRollouts]:
    """Simulators on the machines of ``env.ray`` for as long as the block lasts.

    Raises:
        ConfigError: no Ray cluster answers there, or it does not let us in.
    """
    if env.ray is None:
        yield local_rollouts
        return
    from ns3_env.cluster.rollouts import RayRollouts, start_actors
    from ns3_env.cluster.session import find, joined

    with joined(find(env.ray, "env.ray"), env.simulators) as cluster:
        count = max(min(env.simulators or env.prefetch, cluster.cores), 1)
        print(f"{cluster}; {count} simulator{'s' if count != 1 else ''} there", flush=True)
        actors = start_actors(count)

        def there(
            task: Task, sampler: Callable[[int], Scenario], seed: int, simulators: int, plays: int
        ) -> EpisodeQueue:
            return RayRollouts(actors, sampler, task=task, seed=seed, plays=plays)

        yield there


class SpacesOnly(VecEnv):
    """The spaces of ``FlowVecEnv``, without simulators."""

    def __init__(
        self,
        fields: list[str],
        action_map: str,
        slots: int,
        action_settings: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            fields: fields of the observation.
            action_map: name of the action map.
            slots: number of slots of all simulators together.
            action_settings: settings of the action map.

        Raises:
            KeyError: there is no such field or action map.
        """
        self.render_mode: str | None = None
        action = make_action_map(action_map, **(action_settings or {}))
        super().__init__(slots, observations.observation_space(fields), action.space)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once per slot."""
        return [getattr(self, attr_name)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No slot is wrapped."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing is open."""

    def _nothing_runs(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError("there are only the spaces of this environment")

    reset = step_async = step_wait = set_attr = env_method = _nothing_runs


class RolloutEnv(SpacesOnly):
    """The spaces of ``FlowVecEnv``, and episodes instead of steps.

    The policy that runs episode n has learned from the episodes up to n - ``env.prefetch``, and from no
    other: simulators run while the learner learns, and their episodes do not depend on which of them is
    faster. With another ``env.prefetch`` a run with the same seed learns from other transitions.
    """

    def __init__(
        self,
        env: EnvConfig,
        sampler: Callable[[int], Scenario],
        task: Task,
        seed: int,
        simulators: int,
        make_rollouts: MakeRollouts = local_rollouts,
    ) -> None:
        """
        Args:
            env: configuration: names of fields and action map, and the number of episodes simulated ahead.
            sampler: scenario of each episode.
            task: task with the observed fields and the reward.
            seed: base seed of the episodes.
            simulators: processes; more than the episodes simulated ahead are of no use.
            make_rollouts: function that makes the rollouts, local or on a cluster.
        """
        super().__init__(env.fields, env.action.name, 1)
        self._prefetch = env.prefetch
        self.rollouts = make_rollouts(task, sampler, seed, min(simulators, env.prefetch), env.plays)
        self.results: list[tuple[int, dict[str, Any]]] = []  # of the last episode
        self._silent = 0  # episodes in a row without a decision

    #: Count for the run's log: all episodes come from one place.
    num_simulators = 1
    slots = 1

    def next(self, policy: Callable[[], bytes], exploration: Exploration) -> Rollout:
        """The next episode.

        Args:
            policy: function that returns the policy's file as it is now, for episodes that start now.
            exploration: exploration of those episodes.

        Raises:
            SimulatorError, ScenarioError: see ``Rollouts.next``.
        """
        missing = self._prefetch - self.rollouts.pending
        self._begin(missing, policy() if missing > 0 else b"", exploration)
        return self._next()

    def batch(
        self, policy: Callable[[], bytes], exploration: Exploration, decisions: int
    ) -> Iterator[Rollout]:
        """Episodes of one policy until there are this many decisions, and ``env.plays`` of the last flows;
        none of the next is run ahead.

        Arguments and errors are those of ``next``.
        """
        now, count = policy(), 0
        self.rollouts.next_episode += self.rollouts.plays_left  # a run that was stopped amid plays
        while count < decisions or self.rollouts.pending > 0 or self.rollouts.plays_left > 0:
            room = self._prefetch - self.rollouts.pending
            missing = room if count < decisions else min(room, self.rollouts.plays_left)
            self._begin(missing, now, exploration)
            rollout = self._next()
            count += rollout.decisions
            yield rollout

    def _begin(self, episodes: int, policy: bytes, exploration: Exploration) -> None:
        for _ in range(episodes):
            self.rollouts.begin(policy, exploration)

    def _next(self) -> Rollout:
        rollout = self.rollouts.next()
        self._silent = 0 if rollout.decisions else self._silent + 1
        if self._silent >= SILENT_EPISODES:
            raise ScenarioError(never_decides(self._silent))
        self.results = [(0, rollout.results)]
        return rollout

    @property
    def next_episodes(self) -> list[int]:
        """Number of the episode that starts next."""
        return [self.rollouts.next_episode]

    def go_on_with(self, episodes: Sequence[int]) -> None:
        """Continues with the largest of these episode numbers."""
        self.rollouts.go_on_with(max(episodes))

    def reset(self) -> np.ndarray:
        """Gives up the episodes that are run ahead. Zeros: nothing has been observed."""
        self.rollouts.give_up()
        assert self.observation_space.shape is not None
        return np.zeros((1, *self.observation_space.shape), dtype=np.float32)

    def close(self) -> None:
        """Ends the simulators; may be called again."""
        self.rollouts.close()


def make_env(
    env: EnvConfig,
    sampler: Callable[[int], Scenario],
    slots: int,
    seed: int,
    simulators: int | None = None,
    seeds: Sequence[int] = (),
) -> FlowVecEnv:
    """The environment.

    Args:
        env: configuration of the environment.
        sampler: scenario of each episode.
        slots: most flows under the agent in one scenario.
        seed: base seed of the episodes.
        simulators: processes; by default as configured.
        seeds: seeds of the episodes themselves, instead of those drawn from ``seed``.
    """
    spared = observations.spared_attributes(**env.spared)
    return FlowVecEnv(
        (lambda episode: sampler(episode).with_agent(spared)) if spared else sampler,
        num_simulators=env.processes if simulators is None else simulators,
        slots=slots,
        task=make_task(env, "configuration"),
        seed=seed,
        seeds=seeds,
    )


def make_training_env(
    env: EnvConfig,
    sampler: Callable[[int], Scenario],
    slots: int,
    seed: int,
    make_rollouts: MakeRollouts | None = None,
) -> FlowVecEnv | RolloutEnv:
    """Makes the environment in which an agent learns, by ``env.placement``; arguments as of ``make_env``,
    and the function that gives simulators that run whole episodes (none: processes of this machine)."""
    if env.placement == "python":
        return make_env(env, sampler, slots, seed)
    task = make_task(env, "configuration")
    return RolloutEnv(env, sampler, task, seed, env.processes, make_rollouts or local_rollouts)
