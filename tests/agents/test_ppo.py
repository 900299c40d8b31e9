# SPDX-License-Identifier: GPL-2.0-or-later
"""PPO and TRPO in the simulators: likelihoods, advantages, runs; noise of TD3's actions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th
from gymnasium.spaces import Box
from stable_baselines3.common.buffers import RolloutBuffer

import train
from ns3_env.agents.sb3.censored import CensoredGaussian
from ns3_env.agents.sb3.episode_buffer import generalised_advantages
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, read_policy
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.samples.agents import trainer
from tests.samples.runs import checkpoints, the_run, written

CONFIG: dict[str, Any] = {
    "agent": {"name": "ppo", "options": {"n_steps": 200, "batch_size": 64, "n_epochs": 2}},
    "env": {"placement": "simulator", "fields": ["rtt", "last_action"], "simulators": 1},
    "train": {"decisions": 800},
}
INCAST: dict[str, Any] = {
    "time_limit_ns": "1ms",
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 100_000, "spread_ns": 20_000},
}


def trained(folder: Path, **changes: Any) -> Path:
    """The run's folder."""
    folder.mkdir()
    config = {**CONFIG, **{key: {**CONFIG[key], **value} for key, value in changes.items()}}
    arguments = written(folder, config, {"stages": [{"name": "incast", "scenario": INCAST}]})
    assert train.main([*arguments, "--no-evaluation"]) == 0
    return the_run(folder)


@pytest.mark.parametrize("mean", [-1.4, 0.2, 0.97])
def test_what_a_cut_gaussian_says_of_all_actions_adds_up_to_one(mean: float) -> None:
    cut = CensoredGaussian(1).proba_distribution(th.tensor([[mean]]), th.tensor([-1.0]))
    inside = th.linspace(-1, 1, 20_001)[1:-1, None]
    likelihoods = cut.log_prob(inside).exp().double()
    bounds = cut.log_prob(th.tensor([[-1.0], [1.0]])).exp().double()
    assert float(likelihoods.sum() * 1e-4 + bounds.sum()) == pytest.approx(1.0, abs=1e-3)


def test_advantages_are_stable_baselines3s_where_all_decisions_take_one_base_rtt() -> None:
    random, gamma, gae_lambda = np.random.default_rng(2), 0.9, 0.8
    rewards, values = random.normal(size=(2, 8))
    decided = np.array([True, True, True, False, True, True, True, False])  # two flows
    values[~decided] = 0.0
    advantages = generalised_advantages(rewards, np.full(8, gamma), values, decided, gae_lambda)[decided]
    spaces = Box(-1, 1, (1,)), Box(-1, 1, (1,))
    buffer = RolloutBuffer(6, *spaces, gamma=gamma, gae_lambda=gae_lambda)
    for row in np.flatnonzero(decided):
        value = th.tensor([values[row]])
        buffer.add(
            np.zeros(1), np.zeros(1), rewards[row + 1 : row + 2], np.array([row in (0, 4)]), value, value
        )
    buffer.compute_returns_and_advantage(th.zeros(1), np.array([True]))
    assert advantages == pytest.approx(buffer.advantages.ravel(), rel=1e-6)


def test_a_run_depends_on_its_seed_and_not_on_the_number_of_simulators(tmp_path: Path) -> None:
    runs = [trained(tmp_path / str(count), env={"simulators": count}) for count in (1, 3)]
    one, three = ((checkpoints(run)[-1] / POLICY_FILE).read_bytes() for run in runs)
    assert one[one.index(b"sha256") :][:80] == three[three.index(b"sha256") :][:80]


def test_trpo_learns_from_plays_of_the_same_flows(tmp_path: Path) -> None:
    agent = {"name": "trpo", "options": {"n_steps": 100, "n_critic_updates": 1}, "advantages": "episode"}
    config = {"agent": agent, "env": {"plays": 3, "prefetch": 2}, "train": {"decisions": 300}}
    run = trained(tmp_path / "run", **config)
    states = [json.loads((folder / "learner.json").read_text()) for folder in checkpoints(run)]
    assert states[-1]["counts"]["updates"] >= 2
    first, last = (read_policy(checkpoints(run)[i] / POLICY_FILE).tensors for i in (0, -1))
    assert not np.array_equal(first["layers.0.weight"], last["layers.0.weight"])


def test_what_it_learned_decides_inside_the_simulator_under_the_clock_of_its_choice(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", env={"clock": {"name": "per_flow_rtt", "rtt_fraction": 1.0}})
    scenario = Scenario.from_mapping({**INCAST, "controllers": ["agent"]}, "incast")
    with Simulator() as simulator:
        results = simulator.play(scenario.playing(checkpoints(run)[-1] / POLICY_FILE))
    assert min(results["flows"]["fct_ns"]) > 0


def test_ratios_of_likelihoods_stay_finite_where_a_narrow_policy_moves() -> None:
    narrow = CensoredGaussian(1).proba_distribution(th.tensor([[5.0]], requires_grad=True), th.tensor([-6.0]))
    likely = narrow.log_prob(th.tensor([[-1.0], [0.3], [1.0]]))
    assert bool(th.isfinite((0.0 - likely).exp()).all())


def test_an_algorithm_without_noise_refuses_it() -> None:
    with pytest.raises(ConfigError, match=r"ppo does not accept its options: .*action_noise"):
        trainer({"name": "ppo", "action_noise": 0.1, "options": {"n_steps": 16, "batch_size": 16}})
