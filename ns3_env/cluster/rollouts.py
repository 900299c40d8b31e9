# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollouts from a Ray cluster, the same episodes as from simulators of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ns3_env.cluster.actors import SimulatorActors
from ns3_env.cluster.pool import value
from ns3_env.decision import observations
from ns3_env.decision.rewards import DEFAULT_REWARD, Reward
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import Sampler
from ns3_env.envs.rollouts import EpisodeQueue, PendingEpisode
from ns3_env.scenario import Scenario

#: Between two looks whether the caller has to hear of a signal, s.
_TICK_S = 0.2


class RayRollouts(EpisodeQueue):
    """Episodes that actors play. An episode whose node dies is played again elsewhere, and is the same.

    Args:
        actors: the simulators; not closed with this.
        sampler, fields, reward, task, seed: see :class:`ns3_env.envs.rollouts.EpisodeQueue`.
    """

    def __init__(
        self,
        actors: SimulatorActors,
        sampler: Sampler | Scenario | Mapping[str, Any],
        *,
        fields: Sequence[str] = observations.FDCC_FIELDS,
        reward: str | Reward = DEFAULT_REWARD,
        task: Task | None = None,
        seed: int = 1,
    ) -> None:
        super().__init__(sampler, fields=fields, reward=reward, task=task, seed=seed)
        self._actors = actors
        self._played: dict[Any, PendingEpisode] = {}  # by the reference of what is played

    def _assign(self) -> None:
        """See the base class: Ray keeps what an actor cannot play yet."""
        given = {id(begun) for begun in self._played.values()}
        for begun in self._begun:
            if begun.results is None and id(begun) not in given:
                self._played[self._actors.play(begun)] = begun

    def _receive(self) -> None:
        """See the base class."""
        import ray

        while not (ready := ray.wait(list(self._played), timeout=_TICK_S, fetch_local=False)[0]):
            pass  # signals are heard between two waits
        begun = self._played.pop(ready[0])
        self._actors.forget(ready[0])
        parts, results = value(ready[0])
        begun.parts.extend(parts)
        begun.results = results

    def give_up(self) -> None:
        """See the base class."""
        super().give_up()
        for ref in self._played:
            self._actors.forget(ref)
        self._played.clear()

    def close(self) -> None:
        """See the base class."""
        self.give_up()
