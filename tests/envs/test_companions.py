# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies of the flows around the agent's own, such as MPCC, with a state for each flow."""

from typing import Any

import numpy as np
import pytest

from ns3_env.agents.baselines.constant import RandomPolicy
from ns3_env.agents.baselines.mpcc import MpccPolicy
from ns3_env.decision import observations
from ns3_env.decision.actions import AbsoluteWindow
from ns3_env.decision.observations import FDCC_FIELDS
from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.errors import ScenarioError
from ns3_env.policies.policy import Policy


def life_ns(others: str | Policy, seed: int = 4) -> tuple[float, int]:
    """Lifetime and number of decisions of flow 1 under its own policy."""
    policy = MpccPolicy()
    env = FlowEnv(flows=4, flow=1, others=others, fields=policy.fields, action=AbsoluteWindow())

    def life() -> tuple[float, int]:
        observation, _ = env.reset(seed=seed)
        state, steps, over = None, 0, False
        while not over:
            action, state = policy.predict(observation[None], state)
            observation, _, terminated, truncated, info = env.step(action[0])
            over, steps = terminated or truncated, steps + 1
        assert terminated
        return float(info["time_ns"]), steps

    try:
        first = life()
        if not isinstance(others, RandomPolicy):
            assert life() == first, "the other flows' memories begin anew with the episode"
        return first
    finally:
        env.close()


def test_other_flows_follow_the_policy_they_are_given_and_the_same_seed_is_the_same_life() -> None:
    among_mpcc, decisions = life_ns(MpccPolicy())
    assert life_ns(MpccPolicy()) == (among_mpcc, decisions)
    among_random, _ = life_ns(RandomPolicy(FDCC_FIELDS, "multiplicative_window", seed=1))
    assert decisions > 50
    assert among_mpcc != among_random
    # Four flows of 1 MB at 100 Gb/s need about 350 us together with equal shares.
    assert 0.25e6 < among_mpcc < 0.5e6


def test_a_flow_that_does_not_exist_is_named() -> None:
    with pytest.raises(ScenarioError, match="no flow 9; flows are 0 to 3"):
        FlowEnv(flows=4, flow=9, others=MpccPolicy())
    assert np.isfinite(life_ns("hpcc")[0])


class Counting:
    """Sets a window, in packets, equal to the number of the flow's decisions in its episode."""

    fields = ("packet_bytes",)
    action_map = "absolute_window"

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Any]:
        counts = np.zeros(len(observation), dtype=np.int64) if state is None else state[0].copy()
        if episode_start is not None:
            counts[episode_start] = 0
        counts += 1
        return counts[:, None] * observation, (counts,)


def test_each_companion_has_a_state_of_its_own() -> None:
    companions = BackgroundPolicy(Counting())
    record = np.zeros((1, len(observations.FIELDS)))
    for name, value in (("packet_bytes", 1000.0), ("bdp_bytes", 50_000.0), ("host_rate_bps", 1e11)):
        record[:, observations.INDEX[name]] = value

    def windows(*flows: int) -> list[float]:
        answers = companions.actions(record.repeat(len(flows), axis=0), np.array(flows, dtype=np.int64))
        return [float(packets) / 1000 for packets in answers[:, 0]]

    assert windows(2) == [1]
    assert windows(2, 0) == [2, 1]
    assert windows(7, 0) == [1, 2]  # an unknown flow, with a number above the others
    assert windows(0, 7, 2) == [3, 2, 3]
    assert windows() == []
    companions.forget()
    assert windows(7, 1, 0) == [1, 1, 1]
