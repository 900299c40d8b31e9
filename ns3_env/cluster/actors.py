# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulators as Ray actors: each has a core and is started again where it died."""

from __future__ import annotations

import os
from typing import Any

from ns3_env.cluster.pool import RETRIES, caught
from ns3_env.cluster.worker_context import WorkerContext, pack, unpack
from ns3_env.envs.rollouts import NO_POLICY, MemoryFile, PendingEpisode, as_simulated
from ns3_env.simulator import EpisodeEnd, Simulator, Transitions

#: Parts of an episode, and its results.
Played = tuple[list[Transitions], dict[str, Any]]


class SimulatorActor:
    """A simulator on a node. Ray makes it again from its constructor's argument: a number, no reference, for
    what that refers to may be gone by then."""

    def __init__(self, capacity: int) -> None:
        self._simulator = Simulator(capacity)

    def play(self, begun: PendingEpisode, context: WorkerContext) -> Played | Exception:
        """A whole episode under the policy; the same whenever it is asked for again."""
        return caught(lambda: self._play(begun, context))

    def _play(self, begun: PendingEpisode, context: WorkerContext) -> Played:
        unpack(context)
        file = MemoryFile(begun.policy)
        parts: list[Transitions] = []
        try:
            self._simulator.send_reset(as_simulated(begun, file.path))
            while not isinstance(message := self._simulator.receive(), EpisodeEnd):
                if not isinstance(message, Transitions):
                    raise RuntimeError(NO_POLICY)
                parts.append(message)
                self._simulator.send_actions(())
        finally:
            file.close()
        return parts, message.results

    def pid(self) -> int:
        """Process id of the actor."""
        return os.getpid()


class SimulatorActors:
    """Actors, of which the one with the least to do plays the next episode. Within a joined cluster."""

    def __init__(self, count: int, *, capacity: int = 16_384) -> None:
        """
        Args:
            count: actors, a core each.
            capacity: see :class:`ns3_env.simulator.Simulator`.
        """
        import ray

        self._context = ray.put(pack())
        made: Any = ray.remote(SimulatorActor)
        actor = made.options(num_cpus=1, max_restarts=-1, max_task_retries=RETRIES)
        self._actors = [actor.remote(capacity) for _ in range(count)]
        self._under_way: dict[Any, int] = {}  # by the reference of what is played: the actor's number

    def play(self, begun: PendingEpisode) -> Any:
        """Begins an episode; the reference of what ``ns3_env.cluster.pool.value`` gives."""
        load = [0] * len(self._actors)
        for number in self._under_way.values():
            load[number] += 1
        number = load.index(min(load))
        ref = self._actors[number].play.remote(begun, self._context)
        self._under_way[ref] = number
        return ref

    def forget(self, ref: Any) -> None:
        """Forgets an episode that is over."""
        self._under_way.pop(ref, None)

    def close(self) -> None:
        """Ends the actors and their simulators; may be called again."""
        import ray

        if ray.is_initialized():
            for actor in self._actors:
                ray.kill(actor)
        self._actors = []
