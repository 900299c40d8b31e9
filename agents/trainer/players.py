# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulators of a training run: processes of this machine, or actors of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.envs.rollouts import EpisodeQueue, Rollouts
from ns3_env.scenario import Scenario
from ns3_env.task.rewards import Reward


class MakeRollouts(Protocol):
    """Gives simulators, at most so many, for the episodes of a sampler."""

    def __call__(
        self,
        env: EnvConfig,
        sampler: Callable[[int], Scenario],
        reward: Reward,
        seed: int,
        simulators: int,
    ) -> EpisodeQueue:
        """See ``EpisodeQueue``."""
        ...


def local_rollouts(
    env: EnvConfig, sampler: Callable[[int], Scenario], reward: Reward, seed: int, simulators: int
) -> EpisodeQueue:
    """Processes of this machine."""
    return Rollouts(
        sampler,
        num_simulators=simulators,
        fields=env.fields,
        reward=reward,
        seed=seed,
        hang_timeout_s=env.hang_timeout_s,
    )


@contextmanager
def players_of(env: EnvConfig) -> Iterator[MakeRollouts]:
    """Simulators where ``env.ray`` says, for as long as the block lasts.

    Raises:
        ConfigError: no Ray cluster answers there, or it does not let us in.
    """
    if env.ray is None:
        yield local_rollouts
        return
    from ns3_env.cluster.actors import SimulatorActors
    from ns3_env.cluster.address import find
    from ns3_env.cluster.rollouts import RayRollouts
    from ns3_env.cluster.session import joined

    with joined(find(env.ray, "env.ray"), env.simulators) as cluster:
        count = max(min(env.simulators, cluster.cores), 1)
        print(f"{cluster}; {count} simulator{'s' if count != 1 else ''} there", flush=True)
        actors = SimulatorActors(count, hang_timeout_s=env.hang_timeout_s)

        def there(
            env: EnvConfig, sampler: Callable[[int], Scenario], reward: Reward, seed: int, simulators: int
        ) -> EpisodeQueue:
            return RayRollouts(actors, sampler, fields=env.fields, reward=reward, seed=seed)

        try:
            yield there
        finally:
            actors.close()
