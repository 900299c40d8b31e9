# SPDX-License-Identifier: GPL-2.0-or-later
"""Can a policy steer the flows around the agent's own? One MPCC policy beside the environment."""

from __future__ import annotations

import numpy as np
import pytest

from agents.baselines import RandomPolicy
from agents.mpcc import MpccPolicy
from ns3_env.actions import AbsoluteWindow
from ns3_env.errors import ScenarioError
from ns3_env.flow_env import RdmaIncastEnv
from ns3_env.policy import Policy
from ns3_env.telemetry import FDCC_FIELDS


def life_ns(others: str | Policy, seed: int = 4) -> tuple[float, int]:
    """How long flow 1 lives under a policy of its own, and how often it decides."""
    policy = MpccPolicy()
    env = RdmaIncastEnv(flows=4, flow=1, others=others, fields=policy.fields, action=AbsoluteWindow())
    try:
        observation, _ = env.reset(seed=seed)
        state, steps, over = None, 0, False
        while not over:
            action, state = policy.predict(observation[None], state)
            observation, _, terminated, truncated, info = env.step(action[0])
            over, steps = terminated or truncated, steps + 1
        assert terminated
        return float(info["time_ns"]), steps
    finally:
        env.close()


def test_other_flows_follow_the_policy_they_are_given() -> None:
    among_mpcc, decisions = life_ns(MpccPolicy())
    among_random, _ = life_ns(RandomPolicy(FDCC_FIELDS, "multiplicative_window", seed=1))
    assert decisions > 50
    assert among_mpcc != among_random
    # Four flows of 1 MB at 100 Gb/s take about 350 us together when all share alike.
    assert 0.25e6 < among_mpcc < 0.5e6


def test_same_seed_same_life_with_companions() -> None:
    assert life_ns(MpccPolicy()) == life_ns(MpccPolicy())


def test_a_flow_that_does_not_exist_is_named() -> None:
    with pytest.raises(ScenarioError, match="no flow 9; flows are 0 to 3"):
        RdmaIncastEnv(flows=4, flow=9, others=MpccPolicy())
    assert np.isfinite(life_ns("hpcc")[0])
