# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded decisions of a policy across the channel, on which an exported file is compared with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.training.rollout_env import make_env
from ns3_env.errors import ConfigError
from ns3_env.policies.history import Floats, Ints
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import SlotStates
from ns3_env.scenario import Scenario

#: Maximum number of episodes for the requested decisions: no useful scenario needs more.
_EPISODES = 1000


@dataclass(frozen=True)
class Recording:
    """n decisions in the order of time.

    Attributes:
        flows: (n,) number of each one's flow; a flow's first decision is the first with its number.
        observations: (n, D) float32.
        records: (n, fields) telemetry before each.
        actions: (n, A).
    """

    flows: Ints
    observations: Floats
    records: npt.NDArray[np.float64]
    actions: Floats

    @property
    def flow_order(self) -> Ints:
        """(n,) rows with those of a flow next to each other, from its first one on."""
        return np.argsort(self.flows, kind="stable")

    def histories(self, depth: int) -> tuple[Floats, Ints]:
        """Histories (n, K, D) up to each decision, zero-padded at the end, and their lengths (n,)."""
        order = self.flow_order
        flows = self.flows[order]
        age = np.empty_like(order)
        age[order] = np.arange(len(order)) - np.searchsorted(flows, flows)
        lengths = np.minimum(age + 1, depth)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        steps = np.arange(depth)
        rows = order[np.minimum((place + 1 - lengths)[:, None] + steps, len(order) - 1)]
        return np.where((steps < lengths[:, None])[:, :, None], self.observations[rows], 0), lengths


def record(
    policy: NetworkPolicy,
    env: EnvConfig,
    scenario: Scenario,
    seed: int,
    count: int,
    most_per_flow: int | None = None,
) -> Recording:
    """At least ``count`` decisions of a policy.

    Args:
        policy: the policy that decides.
        env: configuration with the action map's settings.
        scenario: the scenario, simulated with different flows each time, until there are enough decisions.
        seed: seed of the episodes.
        count: least number of decisions.
        most_per_flow: number of decisions recorded of each flow, from its first one on; None: all.

    Raises:
        ConfigError: the scenario hardly needs decisions of the policy.
        SimulatorError: the simulator failed.
    """
    if scenario.agent_flow_count == 0:
        raise ConfigError("the scenario has no flow under the agent: nothing to compare on")
    states = SlotStates(policy)
    env = env.model_copy(update={"fields": list(policy.fields)})
    ages: list[int] = []  # by flow
    flow_of: dict[int, int] = {}  # by slot
    moments: list[Recording] = []
    episodes = decisions = 0
    with make_env(env, lambda episode: scenario, scenario.agent_flow_count, seed, simulators=1) as stream:
        stream.start()
        while decisions < count:
            batch = stream.recv()
            episodes += len(batch.results)
            if episodes >= _EPISODES:
                raise ConfigError(f"{decisions} decisions in {episodes} episodes: too few to compare on")
            new_slots = batch.slots[batch.first]
            states.forget(new_slots)
            for slot in new_slots.tolist():
                flow_of[slot] = len(ages)
                ages.append(0)
            if not batch.due.any():
                continue
            slots, observations = batch.slots[batch.due], batch.observations[batch.due]
            actions = states.predict(observations, slots)
            stream.send(actions, slots)
            flows = np.array([flow_of[slot] for slot in slots.tolist()])
            for flow in flows.tolist():
                ages[flow] += 1
            mask = np.array([most_per_flow is None or ages[flow] <= most_per_flow for flow in flows.tolist()])
            moments.append(
                Recording(flows[mask], observations[mask], batch.records[batch.due][mask], actions[mask])
            )
            decisions += int(mask.sum())
    return Recording(
        np.concatenate([moment.flows for moment in moments]),
        np.concatenate([moment.observations for moment in moments]).astype(np.float32),
        np.concatenate([moment.records for moment in moments]),
        np.concatenate([moment.actions for moment in moments]),
    )
