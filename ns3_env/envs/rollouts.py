# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollouts: whole episodes of a policy inside the simulator, as trajectories of flows.

The simulator evaluates the policy's file itself (controller "policy", docs/policy-format.md), explores with
its own random numbers, and hands over each flow's observations, actions and rewards. No decision crosses to
Python, so a second has many times the decisions of :mod:`ns3_env.envs.flow_stream`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ns3_env.decision import observations
from ns3_env.decision.rewards import DEFAULT_REWARD
from ns3_env.decision.task import RewardLike, Task, WithTask
from ns3_env.envs.flow_stream import Sampler, episode_seed, sampler_of
from ns3_env.errors import ScenarioError
from ns3_env.programs.transport import transport_of
from ns3_env.scenario import AGENT, POLICY, Scenario, ScenarioLike
from ns3_env.simulator import EpisodeEnd, HealthCheck, Script, Simulator, Transitions, wait_any


@dataclass(frozen=True)
class Exploration:
    """Exploration of a policy inside the simulators.

    Attributes:
        noise: standard deviation of the noise added to its actions, which are in [-1, 1].
        random_share: share of flows whose actions are all random, each held for four decisions on average
            (εz-greedy, Dabney et al. 2021).
    """

    noise: float = 0.0
    random_share: float = 0.0


@dataclass(frozen=True)
class Rollout:
    """One episode: n rows, those of a flow next to each other and in the order of time.

    A flow's first row has no reward, its last one no action: it is ``terminated`` or ``truncated``. The
    reward of a row is that of the row before's action.

    Attributes:
        episode: number of the episode.
        seed: seed of its scenario.
        flows: (n,) index of each flow in the scenario.
        first: (n,) a flow's first row.
        terminated: (n,) true if the flow is done.
        truncated: (n,) true if the episode was cut.
        observations: (n, D) float32.
        actions: (n,) float32 in [-1, 1], exploration included; 0 on rows without an action.
        rewards, elapsed, final, slowdowns: (n,) each; see :class:`ns3_env.decision.outcomes.Outcomes`.
        windows: (n, 2) window (B) and pacing rate (bit/s) that the action set.
        records: (n, fields) the whole telemetry records.
        results: results of the simulator (:mod:`ns3_env.simulator.results`).
    """

    episode: int
    seed: int
    flows: NDArray[np.int64]
    first: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    observations: NDArray[np.float32]
    actions: NDArray[np.float32]
    rewards: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    final: NDArray[np.bool_]
    slowdowns: NDArray[np.float64]
    windows: NDArray[np.float64]
    records: NDArray[np.float64]
    results: dict[str, Any]

    @property
    def decided(self) -> NDArray[np.bool_]:
        """(n,) rows on which an action was taken."""
        return ~(self.terminated | self.truncated)

    @property
    def decisions(self) -> int:
        """Actions taken."""
        return int(np.count_nonzero(self.decided))

    @property
    def age(self) -> NDArray[np.int64]:
        """(n,) rows of the same flow before each."""
        begins: NDArray[np.int64] = np.flatnonzero(self.first)[np.cumsum(self.first) - 1]
        return np.arange(len(self.first)) - begins

    @property
    def finished(self) -> list[tuple[int, float, int]]:
        """Each flow's 0, return and number of decisions; 0 is the index of the only simulator
        (``RolloutEnv``)."""
        begins = np.flatnonzero(self.first)
        returns = np.add.reduceat(self.rewards, begins) if len(begins) else np.empty(0)
        lengths = np.diff(np.append(begins, len(self.first))) - 1
        return [(0, float(total), int(n)) for total, n in zip(returns, lengths, strict=True)]


#: Error if a simulator asks for a decision.
NO_POLICY = "a flow under 'agent' asked for a decision, but no policy is here"


class MemoryFile:
    """A file without a name, which simulators open through this process; it vanishes with the process,
    however that ends."""

    def __init__(self, content: bytes) -> None:
        # A Python file closes itself if an exception leaves it behind.
        self._file = open(os.memfd_create("policy", os.MFD_CLOEXEC), "wb", buffering=0)  # noqa: SIM115
        self._file.write(content)
        self.path = f"/proc/{os.getpid()}/fd/{self._file.fileno()}"

    def close(self) -> None:
        """Gives the memory back; may be called again."""
        self._file.close()


@dataclass
class PendingEpisode:
    """An episode that was started."""

    episode: int
    seed: int
    scenario: Scenario | Mapping[str, Any]
    policy: bytes
    exploration: Exploration
    play: int = 0
    parts: list[Transitions] = field(default_factory=list)
    results: dict[str, Any] | None = None


class EpisodeQueue(WithTask, ABC):
    """Episodes of a policy that decides inside the simulators, wherever these are.

    :meth:`begin` asks for an episode under a policy as it is now, :meth:`next` returns the oldest one asked
    for. An episode depends on the policy, the base seed and its number, and on nothing else: not on how many
    simulators there are, nor on the time that anything needs.

    Args:
        sampler: the scenario of each episode's number, or one for all: a Scenario, its keys, its YAML file or
            its name. Flows under "agent" get the policy; the seed is
            replaced.
        fields, reward, task: see :class:`ns3_env.decision.task.Task`; ``task`` replaces the first two.
        seed: base seed.
        plays: number of episodes in a row with the same flows, each under other exploration; the sampler and
            the seeds count such groups.
    """

    def __init__(
        self,
        sampler: Sampler | ScenarioLike,
        *,
        fields: Sequence[str] = observations.FDCC_FIELDS,
        reward: RewardLike = DEFAULT_REWARD,
        task: Task | None = None,
        seed: int = 1,
        plays: int = 1,
    ) -> None:
        if plays < 1:
            raise ValueError(f"plays ({plays}) must be at least 1")
        self.sampler = sampler_of(sampler)
        self.task = Task.of(task, fields, reward)
        self.plays = plays
        self._seed = seed
        self.next_episode = 0
        # In the order of their numbers, until they are given out.
        self._begun: deque[PendingEpisode] = deque()

    @abstractmethod
    def _assign(self) -> None:
        """Idle simulators get the oldest episodes that no simulator runs."""

    @abstractmethod
    def _receive(self) -> None:
        """Waits for a simulator, and receives its message. Raises as ``next``."""

    @property
    def pending(self) -> int:
        """Episodes started and not given out."""
        return len(self._begun)

    @property
    def plays_left(self) -> int:
        """Episodes to begin until the flows of the last one have had all their plays."""
        return -self.next_episode % self.plays

    def begin(self, policy: bytes | Path, exploration: Exploration | None = None) -> int:
        """Asks for the next episode, under a policy as it is now; does not wait.

        Args:
            policy: path of the policy's file, or its content.
            exploration: exploration of the policy; None: none.

        Returns:
            The episode's number.

        Raises:
            ScenarioError: the scenario's transport lacks a field that the policy or the reward reads.
        """
        episode = self.next_episode
        self.next_episode += 1
        content = policy if isinstance(policy, bytes) else policy.read_bytes()
        # Asked for here and not when a simulator is free: the earlier episodes that a sampler knows by
        # now do not depend on the number of simulators.
        group, play = divmod(episode, self.plays)
        scenario = self.sampler(group)
        if isinstance(scenario, Script):
            raise ScenarioError(f"{scenario.source}: a script's flows ask Python, not a policy's file")
        self.task.check(scenario)
        if isinstance(scenario, Scenario):
            scenario = self.task.rewarded_on(scenario)
        seed = episode_seed(self._seed, group)
        pending = PendingEpisode(episode, seed, scenario, content, exploration or Exploration(), play)
        self._begun.append(pending)
        self._assign()
        return episode

    def next(self) -> Rollout:
        """The oldest episode started, complete; waits for it.

        Raises:
            SimulatorError: a simulator died, hung or was stopped. Episodes started are lost; :meth:`begin`
                continues.
            ScenarioError: a simulator refuses its scenario, or the policy's file.
            RuntimeError: no episode was started.
        """
        if not self._begun:
            raise RuntimeError("no episode was begun: begin() comes first")
        try:
            while self._begun[0].results is None:
                self._receive()
        except BaseException:
            self.give_up()
            raise
        return self._rollout(self._begun.popleft())

    def _rollout(self, playing: PendingEpisode) -> Rollout:
        parts = playing.parts
        flows = np.concatenate([part.flows for part in parts]) if parts else np.empty(0, np.int64)
        order = np.argsort(flows, kind="stable")

        def joined(name: str, width: tuple[int, ...] = ()) -> NDArray[Any]:
            arrays = [getattr(part, name) for part in parts] or [np.empty((0, *width))]
            together: NDArray[Any] = np.concatenate(arrays)[order]
            return together

        records = joined("records", (len(observations.FIELDS),))
        first = joined("first").astype(np.bool_)
        terminated = joined("terminated").astype(np.bool_)
        truncated = joined("truncated").astype(np.bool_)
        outcomes = self.task.outcomes(records, first, terminated, truncated)
        assert playing.results is not None
        return Rollout(
            episode=playing.episode,
            seed=playing.seed,
            flows=flows[order],
            first=first,
            terminated=terminated,
            truncated=truncated,
            observations=self.task.observe(records),
            actions=joined("actions").astype(np.float32),
            rewards=outcomes.rewards,
            elapsed=outcomes.elapsed,
            final=outcomes.final,
            slowdowns=outcomes.slowdowns,
            windows=joined("windows", (2,)),
            records=records,
            results={**playing.results, "episode": playing.episode, "seed": playing.seed},
        )

    def give_up(self) -> None:
        """Forgets the episodes started; the next one has the number that follows."""
        self._begun.clear()

    def go_on_with(self, episode: int) -> None:
        """Forgets the episodes started; the next one has this number."""
        self.give_up()
        self.next_episode = episode

    @abstractmethod
    def close(self) -> None:
        """Ends all simulators; may be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Rollouts(EpisodeQueue):
    """Rollouts in simulators of this machine; see :class:`EpisodeQueue`.

    Args:
        sampler, fields, reward, task, seed, plays: see :class:`EpisodeQueue`.
        num_simulators: processes.
        capacity: rows that a simulator collects before it hands them over.
        executable: see :class:`ns3_env.simulator.Simulator`.
    """

    def __init__(
        self,
        sampler: Sampler | ScenarioLike,
        *,
        num_simulators: int = 1,
        fields: Sequence[str] = observations.FDCC_FIELDS,
        reward: RewardLike = DEFAULT_REWARD,
        task: Task | None = None,
        seed: int = 1,
        plays: int = 1,
        capacity: int = 16_384,
        executable: str | PathLike[str] | None = None,
    ) -> None:
        if num_simulators < 1:
            raise ValueError(f"num_simulators ({num_simulators}) must be at least 1")
        super().__init__(sampler, fields=fields, reward=reward, task=task, seed=seed, plays=plays)
        self._simulators = [Simulator(capacity, executable=executable) for _ in range(num_simulators)]
        self._playing: list[tuple[PendingEpisode, MemoryFile] | None] = [None] * num_simulators
        self._health = HealthCheck(self._simulators)

    @property
    def num_simulators(self) -> int:
        """Processes."""
        return len(self._simulators)

    def _assign(self) -> None:
        active_episodes = [now[0] for now in self._playing if now is not None]
        waiting = [p for p in self._begun if p.results is None and all(p is not q for q in active_episodes)]
        for i, simulator in enumerate(self._simulators):
            if self._playing[i] is None and waiting:
                playing = waiting.pop(0)
                file = MemoryFile(playing.policy)
                self._playing[i] = playing, file
                simulator.send_reset(as_simulated(playing, file.path))

    def _receive(self) -> None:
        at_work = [i for i, playing in enumerate(self._playing) if playing is not None]
        i = at_work[wait_any([self._simulators[j] for j in at_work], self._health)]
        self._health()
        message = self._simulators[i].receive(self._health)
        now = self._playing[i]
        assert now is not None
        playing, file = now
        if isinstance(message, EpisodeEnd):
            playing.results = message.results
            file.close()
            self._playing[i] = None
            self._assign()
            return
        if not isinstance(message, Transitions):
            raise RuntimeError(NO_POLICY)
        playing.parts.append(message)
        self._simulators[i].send_actions(())

    def give_up(self) -> None:
        super().give_up()
        for now in self._playing:
            if now is not None:
                now[1].close()
        self._playing = [None] * len(self._simulators)

    def close(self) -> None:
        self.give_up()
        for simulator in self._simulators:
            simulator.close()


def as_simulated(playing: PendingEpisode, policy: str) -> dict[str, Any]:
    """The episode as the simulator reads it: "policy" instead of "agent", and its decisions reported.

    ``policy`` is the path of the policy's file.
    """
    scenario = playing.scenario
    attributes: dict[str, bool | int | float | str] = {
        "File": policy,
        "ActionNoise": playing.exploration.noise,
        "RandomShare": playing.exploration.random_share,
        "ExplorationPlay": playing.play,
    }
    if isinstance(scenario, Scenario):
        content = scenario.with_seed(playing.seed).to_simulator_json()
    else:
        content = {**scenario, "seed": playing.seed}
    if transport_of(content) == "rdma":
        attributes["HopRecords"] = True  # a reward may read fields that the policy does not
    content["controllers"] = [
        {"name": POLICY, "attributes": {**(entry.get("attributes") or {}), **attributes}}
        if entry["name"] == AGENT
        else entry
        for entry in content["controllers"]
    ]
    content["record"] = {**content.get("record", {}), "transitions": True}
    return content
