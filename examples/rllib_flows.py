# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains RLlib's PPO or SAC; each flow is an agent, and all share one policy.

    python examples/rllib_flows.py --algorithm ppo --iterations 40 --out runs/rllib-ppo
    python examples/rllib_flows.py --algorithm sac --iterations 100 --ray auto --runners 8

Learns on a 4-to-1 incast; writes the policy (``policy.safetensors``), which runs inside the simulator and
joins a benchmark: ``python -m eval benchmark quick --out runs/q --checkpoint mine=FILE``. With
``--runners`` that many actors collect experience, on whatever nodes the cluster has.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.sac import SACConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.export.rllib import write_rllib_policy
from ns3_env.cluster.session import find, joined
from ns3_env.envs.rllib_env import NAME
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import PerFlowRtt, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast

#: Observation of a flow: its RTT, and the most congested hop's queue, rate and own share.
FIELDS = ["rtt", "qlen", "switch_rate", "goodput", "pacing_rate", "last_action"]
#: Four hosts that send to one within 50 µs; a flow decides once per RTT. RLlib asks those that are due.
INCAST = Scenario(
    topology=Dumbbell(senders=4), traffic=Incast(size_bytes=1_000_000, spread_ns=50_000), clock=PerFlowRtt()
)
SETTINGS = EnvConfig(fields=FIELDS, clock=PerFlowRtt(), reward={"name": "slowdown"})


def ppo() -> PPOConfig:
    """PPO without discount: RLlib's is per decision, and their intervals vary; a flow's return is minus its
    slowdown."""
    return PPOConfig().training(
        lr=1e-3, gamma=1.0, train_batch_size_per_learner=512, minibatch_size=128, num_epochs=10
    )


def sac() -> SACConfig:
    """Learns from a batch for every 32 steps of the environment."""
    return SACConfig().training(
        actor_lr=1e-3,
        critic_lr=1e-3,
        gamma=0.99,
        train_batch_size_per_learner=128,
        num_steps_sampled_before_learning_starts=128,
        replay_buffer_config={"type": "MultiAgentEpisodeReplayBuffer", "capacity": 100_000},
    )


def flows_share(config: AlgorithmConfig, runners: int, seed: int) -> AlgorithmConfig:
    """Every flow of the environment under one policy, small enough to run inside a simulator."""
    fragment: Any = 32 if isinstance(config, SACConfig) else "auto"
    return (
        config.environment(NAME, env_config={"scenario": INCAST, "fields": FIELDS})
        .multi_agent(policies={"flow"}, policy_mapping_fn=lambda agent, *_, **__: "flow")
        .rl_module(model_config=DefaultModelConfig(fcnet_hiddens=[64, 64]))
        .env_runners(num_env_runners=runners, rollout_fragment_length=fragment)
        .debugging(seed=seed)
    )


def mean_slowdown(policy: Path) -> float:
    """Mean slowdown over the flows of four incasts, without exploration; the simulator runs the policy."""
    played = run_policy(NetworkPolicy.load(policy), SETTINGS, INCAST, seed=1_000, episodes=4)
    return -float(np.mean([episode.mean_return for episode in played]))


def main(arguments: list[str] | None = None) -> None:
    """Learns, and prints the result."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--algorithm", choices=["ppo", "sac"], default="ppo")
    options.add_argument("--iterations", type=int, default=40)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--ray", default="local", metavar="ADDRESS|auto|local")
    options.add_argument(
        "--runners", type=int, default=0, help="actors that collect experience; 0: this process"
    )
    options.add_argument("--out", type=Path, default=Path("runs/rllib-example"))
    given = options.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    policy = given.out / "policy.safetensors"

    with joined(find(given.ray)):
        config: Any = ppo() if given.algorithm == "ppo" else sac()
        algorithm = flows_share(config, given.runners, given.seed).build_algo()
        write_rllib_policy(policy, algorithm, "flow", SETTINGS)
        before = mean_slowdown(policy)
        for _ in range(given.iterations):
            result = algorithm.train()
        write_rllib_policy(policy, algorithm, "flow", SETTINGS)
        algorithm.stop()
    steps = int(result["env_runners"]["num_env_steps_sampled_lifetime"])
    print(f"mean slowdown: {before:.3f} before, {mean_slowdown(policy):.3f} after {steps} steps")
    print(f"play it anywhere: python -m eval run my.yaml --checkpoint mine={policy} --out results")


if __name__ == "__main__":
    main()
