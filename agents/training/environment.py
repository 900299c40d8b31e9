# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes environments from a configuration: the VecEnv, and what a learner is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.configuration.problem import make_task
from ns3_env.agents.training.rollout_env import MakeRollouts, RolloutEnv, local_rollouts
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.scenario import Scenario


def make_env(
    env: EnvConfig,
    sampler: Callable[[int], Scenario],
    slots: int,
    seed: int,
    simulators: int | None = None,
    seeds: Sequence[int] = (),
) -> FlowVecEnv:
    """The environment.

    Args:
        env: its configuration.
        sampler: scenario of each episode.
        slots: most flows under the agent in one scenario.
        seed: base seed of the episodes.
        simulators: processes; by default as configured.
        seeds: of the episodes themselves, instead of those drawn from ``seed``.
    """
    return FlowVecEnv(
        sampler,
        num_simulators=env.simulators if simulators is None else simulators,
        slots=slots,
        task=make_task(env, "configuration"),
        seed=seed,
        seeds=seeds,
    )


def make_training_env(
    env: EnvConfig,
    sampler: Callable[[int], Scenario],
    slots: int,
    seed: int,
    make_rollouts: MakeRollouts | None = None,
) -> FlowVecEnv | RolloutEnv:
    """Where an agent learns, by ``env.placement``; arguments as of ``make_env``, and what gives simulators
    that play whole episodes (none: processes of this machine)."""
    if env.placement == "python":
        return make_env(env, sampler, slots, seed)
    task = make_task(env, "configuration")
    return RolloutEnv(env, sampler, task, seed, env.simulators, make_rollouts or local_rollouts)
