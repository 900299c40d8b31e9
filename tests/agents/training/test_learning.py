# SPDX-License-Identifier: GPL-2.0-or-later
"""Half a minute of training: two flows share a link on unseen seeds, against the untrained policy."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import train
from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.configuration.inputs import make_scenario
from ns3_env.envs.rollouts import Rollout, Rollouts
from ns3_env.simulator.results import flow_column, flow_ends
from tests.samples.runs import checkpoints, the_run, written

AGENT = """
{name: fdcc, hidden: 16, shortcut: 32, net_arch: [32], gamma_per_rtt: 0.9, n_step_return: 5, tau: 0.01,
batch_size: 128, learning_starts: 2000, train_freq: 32, gradient_steps: 2, action_noise: 0.1,
random_share: 0.15}
"""
CONFIG: dict[str, Any] = {
    "name": "learns",
    "agent": yaml.safe_load(AGENT),
    "env": {
        "simulators": 1,
        "placement": "simulator",
        "fields": [
            "rtt",
            "qlen",
            "switch_rate",
            "goodput",
            "rtt_slope",
            "qlen_slope",
            "pacing_rate",
            "last_action",
        ],
        "action": {"name": "multiplicative_window", "alpha": 0.5, "rounding": "none"},
        "reward": {"name": "proportional"},
        "clock": {"name": "per_flow_rtt", "rtt_fraction": 0.5},
    },
    "train": {"decisions": 11_000, "checkpoint_every": 1_000_000},
}
SCENARIO = {
    "time_limit_ns": 400_000,
    "topology": {"kind": "dumbbell", "senders": 2, "rate_bps": 100e9, "delay_ns": 1000},
    "traffic": {"kind": "incast", "size_bytes": 20_000_000, "spread_ns": 50_000},
}


def played(policy: Path, scenario: Mapping[str, Any]) -> list[Rollout]:
    """Eight episodes without exploration, of seeds that no training of seed 1 has."""
    env = EnvConfig(**CONFIG["env"])
    sampler = make_scenario(env, scenario, "test")
    with Rollouts(sampler, fields=env.fields, reward="proportional", seed=99) as rollouts:
        for _ in range(8):
            rollouts.begin(policy)
        return [rollouts.next() for _ in range(8)]


def reward(rollouts: list[Rollout]) -> float:
    return float(np.mean([r.rewards.sum() / r.decisions for r in rollouts]))


def rates_gbps(rollouts: list[Rollout]) -> np.ndarray:
    """Acknowledged rate of each flow over its life: (episodes, flows)."""
    results = [rollout.results for rollout in rollouts]
    lasted = [flow_ends(x) - flow_column(x, "start_ns") for x in results]
    return 8 * np.array([flow_column(x, "acked_bytes") for x in results]) / np.array(lasted)


def test_two_flows_learn_to_share_a_link(tmp_path: Path) -> None:
    files = written(tmp_path, CONFIG, {"stages": [{"name": "two", "scenario": SCENARIO}]})
    assert train.main([*files, "--no-evaluation"]) == 0
    untrained, *_, trained = checkpoints(the_run(tmp_path))
    before, after = (played(at / "policy.safetensors", SCENARIO) for at in (untrained, trained))
    assert reward(after) > reward(before) + 0.2
    rates = rates_gbps(after)
    assert rates.sum(axis=1).mean() > 70  # of 100 Gb/s
    assert (rates.min(axis=1) / rates.mean(axis=1)).mean() > 0.5  # no flow starves
