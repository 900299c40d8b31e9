# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs episodes of a scenario under an in-simulator controller or a policy in either placement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.configuration.inputs import make_task
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import episode_seed
from ns3_env.envs.rollouts import Rollouts
from ns3_env.eval.metrics import line
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Placement, Policy, SlotStates
from ns3_env.policies.released import named_controller
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator.pool import LocalPool, Play, Pool


@dataclass(frozen=True)
class Episode:
    """One episode: the simulator's results, and the rewards of the agent's flows (none under controllers)."""

    seed: int
    results: dict[str, Any]
    returns: list[float] = field(default_factory=list)
    decisions: int = 0

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics of a table's line (``ns3_env.eval.metrics.TABLE``), by name."""
        return line(self.results)

    @property
    def mean_return(self) -> float:
        """Mean over flows of the sum of a flow's rewards; NaN if the agent has no flow."""
        return float(np.mean(self.returns)) if self.returns else float("nan")

    @property
    def mean_reward(self) -> float:
        """Mean over decisions of the reward; NaN without decisions."""
        return float(sum(self.returns)) / self.decisions if self.decisions else float("nan")


#: Episodes in progress, by the name of the controller, one for each seed.
Begun = Mapping[str, Sequence[Future[Episode]]]


def begin_controllers(
    pool: Pool, scenario: Scenario, controllers: Mapping[str, Controller], seeds: Sequence[int]
) -> Begun:
    """Starts episodes of the scenario with every flow of the agent under each controller, one for each seed.

    The futures raise ScenarioError if the simulator refuses a controller, SimulatorError if it failed.
    """

    def begin(who: Controller, seed: int) -> Future[Episode]:
        episode_scenario = scenario.under(who.name, who.attributes).with_seed(seed)
        return pool.submit(Play(episode_scenario, partial(Episode, seed)))

    return {name: [begin(who, seed) for seed in seeds] for name, who in controllers.items()}


def collected(futures_by_name: Begun) -> dict[str, list[Episode]]:
    """Waits for the episodes. Raises the exceptions of the futures."""
    return {name: [future.result() for future in futures] for name, futures in futures_by_name.items()}


def run_controller(name: str | Controller, scenario: Scenario, seed: int, episodes: int = 1) -> list[Episode]:
    """Episodes of the scenario with every flow of the agent under a controller of the simulator, given by
    name or with its attributes, or under a released policy.

    Raises:
        ScenarioError: there is no such controller.
        SimulatorError: the simulator failed.
    """
    who = named_controller(name) if isinstance(name, str) else name
    with LocalPool() as pool:
        futures_by_name = begin_controllers(pool, scenario, {who.name: who}, seeds_of(seed, episodes))
        return collected(futures_by_name)[who.name]


def seeds_of(seed: int, episodes: int) -> list[int]:
    """Seeds of episodes that are drawn from ``seed``."""
    return [episode_seed(seed, number) for number in range(episodes)]


def run_policy(
    policy: Policy,
    env: EnvConfig,
    scenario: Scenario,
    seed: int,
    episodes: int = 1,
    seeds: Sequence[int] = (),
    placement: Placement = "simulator",
) -> list[Episode]:
    """Episodes of the scenario with the agent's flows under ``policy``, deterministic, with its own memory
    per flow.

    A policy's file is evaluated by the simulator itself, on the file's own clock, unless ``placement`` is
    "python"; any other policy decides across the channel.

    Args:
        policy: the policy; its fields and action map override those in ``env``.
        env: configuration with the reward.
        scenario: the scenario; its seed is replaced, as in ``run_controller``: both get the same flows.
        seed: seed of the episodes.
        episodes: number of episodes.
        seeds: seeds of the episodes themselves, instead of those drawn from ``seed``.

    Raises:
        SimulatorError: the simulator failed.
    """
    if isinstance(policy, NetworkPolicy) and placement == "simulator" and not seeds:
        return _run_inside(policy, env, scenario, seed, episodes)
    from ns3_env.agents.training.rollout_env import make_env

    slots = scenario.agent_flow_count
    policy_env = env.model_copy(update={"fields": list(policy.fields)})
    states = SlotStates(policy)
    episode_records: list[Episode] = []
    vec_env = make_env(policy_env, lambda episode: scenario, slots, seed, simulators=1, seeds=seeds)
    try:
        vec_env.start()
        returns, ended, decisions = np.zeros(slots), list[float](), 0
        while len(episode_records) < episodes:
            batch = vec_env.recv()
            for _, results in batch.results:
                episode_records.append(Episode(results["seed"], results, ended, decisions))
                ended, decisions = [], 0
            if len(episode_records) >= episodes:
                break
            np.add.at(returns, batch.slots, batch.rewards)
            decisions += int(np.count_nonzero(~batch.first))
            for slot in batch.slots[~batch.due]:
                ended.append(float(returns[slot]))
                returns[slot] = 0.0
            states.forget(batch.slots[batch.first])
            due = batch.due
            if due.any():
                vec_env.send(
                    states.predict(batch.observations[due], batch.slots[due], deterministic=True),
                    batch.slots[due],
                )
    finally:
        vec_env.close()
    return episode_records


def _run_inside(
    policy: NetworkPolicy, env: EnvConfig, scenario: Scenario, seed: int, episodes: int
) -> list[Episode]:
    task = Task(policy.fields, make_task(env, "configuration").reward)
    rollouts = Rollouts(scenario, task=task, seed=seed)
    episode_records = []
    with rollouts:
        for _ in range(episodes):
            rollouts.begin(policy.path)
            episode = rollouts.next()
            returns = [total for _, total, _ in episode.finished]
            episode_records.append(Episode(episode.seed, episode.results, returns, episode.decisions))
    return episode_records


def summary(episodes: Sequence[Episode]) -> dict[str, float | None]:
    """Mean return and mean reward over episodes, for JSON; None without decisions."""
    returns = [episode.mean_return for episode in episodes]
    rewards = [episode.mean_reward for episode in episodes]
    return {
        "return": None if np.isnan(returns).any() else float(np.mean(returns)),
        "reward": None if np.isnan(rewards).any() else float(np.mean(rewards)),
    }
