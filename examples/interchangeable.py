# SPDX-License-Identifier: GPL-2.0-or-later
"""MPCC and FDCC, a model predictive controller and a trained agent, in one Gymnasium loop.

    python examples/interchangeable.py

Each steers every flow of an 8-to-1 incast: one flow step by step here, the other seven as its companions.
"""

from __future__ import annotations

import gymnasium

import ns3_env  # noqa: F401  (registers the environments)
from ns3_env.agents.baselines.mpcc import MpccPolicy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy, action_map_for
from ns3_env.policies.released import released


def play(policy: Policy, flows: int = 8, seed: int = 1) -> tuple[int, float]:
    """Decisions and slowdown of the first flow of an incast whose flows all are under ``policy``."""
    env = gymnasium.make(
        "ns3_env/RdmaIncast-v1",
        flows=flows,
        fields=policy.fields,
        action=action_map_for(policy),
        others=policy,
    )
    observation, info = env.reset(seed=seed)
    state, decisions, over = None, 0, False
    while not over:
        action, state = policy.predict(observation[None], state)
        observation, _, terminated, truncated, info = env.step(action[0])
        decisions, over = decisions + 1, terminated or truncated
    env.close()
    return decisions, info["slowdown"]


def main() -> None:
    """Runs both, and prints the flow's results."""
    policies: dict[str, Policy] = {"mpcc": MpccPolicy(), "fdcc": NetworkPolicy.load(released("fdcc"))}
    for name, policy in policies.items():
        decisions, slowdown = play(policy)
        print(f"{name}: {decisions} decisions, slowdown {slowdown:.2f}")


if __name__ == "__main__":
    main()
