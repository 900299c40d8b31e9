# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains Stable-Baselines3's PPO; all flows of an incast share one policy.

    python examples/ppo_sb3.py --steps 40000 --out runs/ppo-example

Learns on a 4-to-1 incast, evaluates before and after, saves the algorithm (``ppo.zip``, to continue from) and
the policy (``policy.safetensors``), and runs the policy inside the simulator on an unseen 8-to-1 incast.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch as th
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

import ns3_env
from ns3_env import FlowVecEnv, masked
from ns3_env.scenario import Dumbbell, Incast, Scenario, Synchronous

#: Observation of a flow: its RTT, and the most congested hop's queue, rate and own share.
FIELDS = ["rtt", "qlen", "switch_rate", "goodput", "pacing_rate", "last_action"]


def incast(senders: int, size_bytes: int = 1_000_000) -> Scenario:
    """``senders`` hosts that send to one within 50 µs; each flow decides every 10 µs."""
    return Scenario(
        topology=Dumbbell(senders=senders),
        traffic=Incast(size_bytes=size_bytes, spread_ns=50_000),
        clock=Synchronous(interval_ns=10_000),
    )


def mean_slowdown(model: PPO) -> float:
    """Mean slowdown of 16 flows without exploration, on separate episodes: minus their mean return."""
    with FlowVecEnv(incast(4), slots=4, fields=FIELDS, seed=1_000) as env:
        env.mask.acknowledge()  # evaluation sums a flow's rewards: rows that wait have none
        returns, _ = evaluate_policy(model, env, n_eval_episodes=16, return_episode_rewards=True)
    return -float(np.mean(returns))


def main() -> None:
    """Learns, evaluates, saves and runs the policy."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument(
        "--steps", type=int, default=40_000, help="rows of experience, waiting ones included"
    )
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument(
        "--out", type=Path, default=Path("runs/ppo-example"), help="folder of what is saved"
    )
    given = arguments.parse_args()
    th.set_num_threads(1)  # the networks are small

    with FlowVecEnv(incast(4), slots=4, num_simulators=2, fields=FIELDS, seed=given.seed) as env:
        model = PPO(
            "MlpPolicy", env, learning_rate=1e-3, n_steps=128, batch_size=128, gamma=0.99, seed=given.seed
        )
        # Its rollout buffer contains decisions, not slots that wait for a flow, and gamma is per base RTT.
        model = masked(model)
        before = mean_slowdown(model)
        model.learn(given.steps)
        after = mean_slowdown(model)
    print(f"mean slowdown: {before:.3f} before, {after:.3f} after {model.num_timesteps} steps")

    given.out.mkdir(parents=True, exist_ok=True)
    model.save(given.out / "ppo.zip")  # PPO.load(), then masked() again, continues it
    path = ns3_env.export(model, env, given.out / "policy.safetensors")

    results = ns3_env.evaluate([path, "hpcc"], incast(8, size_bytes=2_000_000), seeds=range(7, 11))
    print("unseen 8-to-1 incast, means over seeds:")
    print(results.wide().groupby("entry")[["fct_slowdown_avg", "queue_avg_bytes"]].mean().round(2))
    print(f"run it anywhere: python -m eval run my.yaml --checkpoint mine={path} --out results")


if __name__ == "__main__":
    main()
