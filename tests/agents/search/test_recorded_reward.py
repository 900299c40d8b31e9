# SPDX-License-Identifier: GPL-2.0-or-later
"""The reward that is read from recordings, against the one that an agent gets."""

import math
from typing import Any

import pytest

from ns3_env.agents.baselines.constant import ConstantPolicy
from ns3_env.agents.baselines.mpcc import MpccPolicy
from ns3_env.agents.configuration.config import EnvConfig, Named
from ns3_env.agents.configuration.inputs import make_scenario
from ns3_env.agents.search.objectives import recorded_reward
from ns3_env.decision.rewards import make_reward
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.policies.policy import Policy

POLICIES: dict[str, Policy] = {
    "mpcc": MpccPolicy(),
    "mpcc, other weights": MpccPolicy(weight_window=0.1, interval_scale=0.3),
    "a window that shrinks": ConstantPolicy([-0.1], ["rtt"]),
    "a window that stays": ConstantPolicy([0.0], ["rtt"]),
}


def played(
    policy: Policy, senders: int, reward: str = "staged", payload: int = 1000
) -> tuple[float, dict[str, Any]]:
    """(reward of a decision that the policy got, results)."""
    env = EnvConfig(
        fields=["rtt"], action=Named(name=policy.action_map), reward=Named(name=reward), telemetry_bytes=42
    )
    scenario = make_scenario(
        env,
        {
            "topology": {"kind": "dumbbell", "rate_bps": 100e9, "senders": senders},
            "traffic": {"kind": "incast", "size_bytes": 20_000_000, "spread_ns": 50_000},
            "time_limit_ns": 300_000,
            "payload_bytes": payload,
            "record": {"queue_series_ns": 500, "windows": True},
        },
        "here",
    )
    episode = run_policy(policy, env, scenario, seed=7)[0]
    return episode.mean_reward, episode.results


@pytest.mark.parametrize("senders", [2, 4, 8])
def test_recordings_give_the_reward_of_a_decision(senders: int) -> None:
    """Within 5 % for windows that the controller holds near the fair share, the range of tuning;
    10 % with a standing queue; the order of policies is that of their rewards."""
    pairs = {}
    for name, policy in POLICIES.items():
        reward, results = played(policy, senders)
        read = recorded_reward(results, make_reward("staged"))
        tolerance = 0.05 if name.startswith("mpcc") else 0.1
        assert read == pytest.approx(reward, rel=tolerance, abs=0.15), name
        pairs[name] = reward, read
    far_apart = [
        (a, b)
        for a in pairs.values()
        for b in pairs.values()
        if a[0] - b[0] > 0.05 * max(abs(a[0]), abs(b[0]))
    ]
    assert far_apart
    assert all(a[1] > b[1] for a, b in far_apart)


def test_it_is_the_reward_that_is_configured() -> None:
    reward, results = played(POLICIES["mpcc"], 4, "proportional")
    assert recorded_reward(results, make_reward("proportional")) == pytest.approx(reward, rel=0.1)


def test_nothing_recorded_is_nothing_known() -> None:
    _, results = played(POLICIES["mpcc"], 2)
    assert math.isnan(recorded_reward({**results, "windows": []}, make_reward("staged")))
    assert math.isnan(recorded_reward({**results, "queues": []}, make_reward("staged")))
