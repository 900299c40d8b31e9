# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollouts of simulators that are Ray actors, the same episodes as from simulators of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ns3_env.cluster.pool import remote_errors
from ns3_env.cluster.worker_context import WorkerContext, pack, unpack
from ns3_env.decision import observations
from ns3_env.decision.rewards import DEFAULT_REWARD
from ns3_env.decision.task import RewardLike, Task
from ns3_env.envs.flow_stream import Sampler
from ns3_env.envs.rollouts import NO_POLICY, EpisodeQueue, MemoryFile, PendingEpisode, as_simulated
from ns3_env.scenario import ScenarioLike
from ns3_env.simulator import EpisodeEnd, Simulator, Transitions

#: Number of times that an episode is repeated after the death of its actor's process or node.
_RETRIES = 3
#: Time between two checks for signals to the caller, s.
_TICK_S = 0.2

#: Number of an episode, its parts and its results.
_Played = tuple[int, list[Transitions], dict[str, Any]]


class SimulatorActor:
    """A simulator on a node. Ray recreates it from its constructor's argument: a number, no reference, for
    the object may no longer exist by then."""

    def __init__(self, capacity: int) -> None:
        self._simulator = Simulator(capacity)

    def play(self, pending: PendingEpisode, context: WorkerContext) -> _Played:
        """A whole episode under the policy; the same at every call."""
        unpack(context)
        file = MemoryFile(pending.policy)
        parts: list[Transitions] = []
        try:
            self._simulator.send_reset(as_simulated(pending, file.path))
            while not isinstance(message := self._simulator.receive(), EpisodeEnd):
                if not isinstance(message, Transitions):
                    raise RuntimeError(NO_POLICY)
                parts.append(message)
                self._simulator.send_actions(())
        finally:
            file.close()
        return pending.episode, parts, message.results


def start_actors(count: int, *, capacity: int = 16_384) -> list[Any]:
    """Simulators as actors of the joined cluster, a core each. They end without references to them.

    Args:
        count: number of actors.
        capacity: see :class:`ns3_env.simulator.Simulator`.
    """
    import ray

    remote: Any = ray.remote(SimulatorActor)
    actor = remote.options(num_cpus=1, max_restarts=-1, max_task_retries=_RETRIES)
    return [actor.remote(capacity) for _ in range(count)]


class RayRollouts(EpisodeQueue):
    """Episodes that actors run. An episode whose node dies is run again elsewhere, and is the same.

    Args:
        actors: the actors, from ``start_actors``.
        sampler, fields, reward, task, seed, plays: see :class:`ns3_env.envs.rollouts.EpisodeQueue`.
    """

    def __init__(
        self,
        actors: Sequence[Any],
        sampler: Sampler | ScenarioLike,
        *,
        fields: Sequence[str] = observations.FDCC_FIELDS,
        reward: RewardLike = DEFAULT_REWARD,
        task: Task | None = None,
        seed: int = 1,
        plays: int = 1,
    ) -> None:
        import ray

        super().__init__(sampler, fields=fields, reward=reward, task=task, seed=seed, plays=plays)
        self._context = ray.put(pack())
        self._actors = actors
        self.give_up()

    def _assign(self) -> None:
        """See the base class: the pool keeps episodes that no actor can run yet."""
        self._pool.submit(lambda actor, episode: actor.play.remote(episode, self._context), self._begun[-1])

    def _receive(self) -> None:
        """See the base class."""
        with remote_errors():
            while (outcome := self._next_played()) is None:
                pass  # signals are handled between two waits
        episode, parts, results = outcome
        pending = next(pending for pending in self._begun if pending.episode == episode)
        pending.parts, pending.results = parts, results

    def _next_played(self) -> _Played | None:
        try:
            outcome: _Played = self._pool.get_next_unordered(timeout=_TICK_S)
        except TimeoutError:
            return None
        return outcome

    def give_up(self) -> None:
        """See the base class."""
        from ray.util.actor_pool import ActorPool

        super().give_up()
        self._pool = ActorPool(list(self._actors))

    def close(self) -> None:
        """See the base class."""
        self.give_up()
