# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluates a policy on training scenarios of a task; yields each flow's trajectory at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ns3_env.agents.trajectories.dataset import Trajectory
from ns3_env.decision.actions import Map, make_action_map, nearest_actions
from ns3_env.decision.observations import columns
from ns3_env.decision.outcomes import Batch
from ns3_env.envs.flow_stream import FlowStream, episode_seed
from ns3_env.envs.rollouts import Exploration, Rollout, Rollouts
from ns3_env.policies.policy import SlotStates
from ns3_env.tasks.definition import TaskSpec
from ns3_env.tasks.front_ends import make


class TaskActions:
    """A policy with the task's observations and actions, whatever its own are.

    A policy that names no ``fields`` observes the task's fields; one that names no ``action_map``, or the
    task's without its own settings, gives the task's actions. For any other map the task's action is the one
    nearest to the policy's window and rate.
    """

    def __init__(self, spec: TaskSpec, policy: Any, noise: float = 0.0, seed: int = 0) -> None:
        self._noise, self._random = noise, np.random.default_rng(seed)
        self._task, self._action = spec.problem(), spec.flow_action
        self._fields = policy.fields if hasattr(policy, "fields") else None
        self._own = own_map(self._action, policy)
        self._space = self._action.space
        self._states = SlotStates(policy)

    def forget(self, slots: NDArray[np.int64]) -> None:
        """Notes that new flows start in these slots."""
        self._states.forget(slots)

    def __call__(self, records: NDArray[np.float64], slots: NDArray[np.int64]) -> NDArray[np.float32]:
        """Actions (m, A) of the task for slots (m,) whose records are (m, fields)."""
        fields = self._fields
        observations = self._task.observe(records) if fields is None else columns(records, fields)
        chosen: NDArray[Any] = np.asarray(self._states.predict(observations, slots)).reshape(len(slots), -1)
        if self._own is not None:
            chosen = nearest_actions(self._action, self._own(chosen, records), records)
        if self._noise:
            chosen = chosen + self._random.normal(0.0, self._noise, chosen.shape)
        actions: NDArray[np.float32] = np.clip(chosen, self._space.low, self._space.high).astype(np.float32)
        return actions


def own_map(action: Map, policy: Any) -> Map | None:
    """The policy's action map; None if it is the task's."""
    name = getattr(policy, "action_map", action.name)
    settings: Mapping[str, Any] | None = getattr(policy, "action_settings", None)
    if name == action.name and not settings:
        return None
    action_map: Any = make_action_map(name, **(settings or {}))
    return None if action_map == action else action_map


@dataclass
class _Life:
    """A flow under way."""

    flow: int
    observations: list[NDArray[np.float32]] = field(default_factory=list)
    actions: list[NDArray[np.float32]] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    elapsed: list[float] = field(default_factory=list)

    def trajectory(self, seed: int, batch: Batch, row: int) -> Trajectory:
        """Returns the trajectory whose last row this is."""
        return Trajectory(
            seed=seed,
            flow=self.flow,
            observations=np.stack(self.observations),
            actions=np.stack(self.actions),
            rewards=np.array(self.rewards),
            elapsed=np.array(self.elapsed),
            slowdown=float(batch.slowdowns[row]),
            terminated=bool(batch.terminated[row]),
            final=bool(batch.final[row]),
        )


def from_policy(
    spec: TaskSpec, policy: Any, episodes: int, seed: int, noise: float = 0.0
) -> Iterator[Trajectory]:
    """Trajectories of a policy in Python; memory contains only the flows under way.

    ``noise`` is the standard deviation of the noise added to its actions. A flow that ends before it decides
    has no trajectory.
    """
    actions = TaskActions(spec, policy, noise, seed)
    stream: FlowStream
    with make(spec.name, "stream", seed=seed) as stream:
        stream.start()
        lives: dict[int, _Life] = {}
        episode = 0
        while True:
            batch = stream.recv()
            if batch.results:
                episode += len(batch.results)
                lives.clear()
            if episode >= episodes:
                return
            actions.forget(batch.slots[batch.first])
            for row, slot in enumerate(batch.slots.tolist()):
                if batch.first[row]:
                    lives[slot] = _Life(int(batch.flows[row]))
                else:
                    lives[slot].rewards.append(float(batch.rewards[row]))
                    lives[slot].elapsed.append(float(batch.elapsed[row]))
                lives[slot].observations.append(batch.observations[row])
            for row in np.flatnonzero(~batch.due).tolist():
                life = lives.pop(int(batch.slots[row]))
                if life.actions:
                    yield life.trajectory(episode_seed(seed, episode), batch, row)
            if batch.due.any():
                slots = batch.slots[batch.due]
                chosen = actions(batch.records[batch.due], slots)
                for slot, one in zip(slots.tolist(), chosen, strict=True):
                    lives[slot].actions.append(one)
                stream.send(chosen, slots)


def from_file(
    spec: TaskSpec, policy: Path, episodes: int, seed: int, noise: float = 0.0
) -> Iterator[Trajectory]:
    """Trajectories of a policy's file with the task's actions, inside the simulator.

    ``noise`` is the standard deviation of the noise added to its actions.
    """
    rollouts: Rollouts
    with make(spec.name, "rollouts", seed=seed) as rollouts:
        for _ in range(episodes):
            rollouts.begin(policy, Exploration(noise=noise))
            yield from split_rollout(rollouts.next())


def split_rollout(rollout: Rollout) -> Iterator[Trajectory]:
    """The flows of an episode."""
    begins = np.flatnonzero(rollout.first)
    for begin, end in zip(begins, [*begins[1:], len(rollout.first)], strict=True):
        last = end - 1
        if last > begin:
            yield Trajectory(
                seed=rollout.seed,
                flow=int(rollout.flows[begin]),
                observations=rollout.observations[begin:end],
                actions=rollout.actions[begin:last, None],
                rewards=rollout.rewards[begin + 1 : end],
                elapsed=rollout.elapsed[begin + 1 : end],
                slowdown=float(rollout.slowdowns[last]),
                terminated=bool(rollout.terminated[last]),
                final=bool(rollout.final[last]),
            )
