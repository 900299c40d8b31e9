# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits a network of the shape in configs/fdcc_zhang2023.yaml to a law that earns Zhang 2023's reward.

Usage: python docs/make/fdcc_expressible.py [--seed 0] [--out runs/expressible/policy.safetensors], then
``python -m eval paper fdcc-pay --full --seeds 1-5 --checkpoint fdcc-zhang2023=OUT``. Three minutes. Needs
the extra train.

The law brings the load of the bottleneck U, rate and queue, to T, which is the lower the larger the flow's
own rate x:

    ln f = 0.5 ln(T / U), at most 0.3, or 0.8 ln(T / U) below 0;  T = 0.99 x^-0.015
    U = switch_rate + qlen + 1.5 (x - x'), with x' the rate one decision before, whose effect is not seen yet

f is the factor of the thesis's recursion (Zhang 2023, sec. 4.2). If it hardly differs from 1 it is 1.01,
as windows are floored to whole packets; before the first telemetry it is 1/2. Data are gathered as in
DAgger (Ross et al. 2011): the network acts, the law gives the right answers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch as th
from gymnasium.spaces import Box
from numpy.typing import NDArray

from ns3_env.agents.fdcc.policy import RecurrentTD3Policy
from ns3_env.agents.fdcc.replay import History
from ns3_env.agents.fdcc.trainer import read_fdcc_policy
from ns3_env.decision.observations import observation_space
from ns3_env.decision.rewards import make_reward
from ns3_env.decision.task import Task
from ns3_env.envs.rollouts import Exploration, Rollouts
from ns3_env.eval.papers.declared import declared
from ns3_env.policies.file import PolicyFile, policy_bytes, read_policy, write_policy
from ns3_env.policies.history import histories_of
from ns3_env.scenario import AGENT, PerFlowRtt, Scenario

ROOT = Path(__file__).parents[2]
#: The episodes of ``fdcc-pay``, by length of links and number of flows.
CASES = [
    scenario
    for (_, delay_ns, part), scenario in sorted(
        declared("fdcc-pay").cases(1.0).items(), key=lambda case: -case[0][1]
    )
    if part == "episode"
]
#: Standard deviation of the noise, and share of flows at random, of the episodes that data come from.
EXPLORATIONS = (Exploration(), Exploration(0.1, 0.1), Exploration(0.3, 0.3))
ROUNDS, STEPS, LAST_STEPS, BATCH, ROWS = 8, 800, 5000, 1024, 2500
_LOG_2 = np.log(2.0)


def law(windows: NDArray[np.float32], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
    """The law's answers (n, 1) to histories (n, K, 8) of these lengths (n,)."""
    rows = np.arange(len(windows))
    now = windows[rows, lengths - 1].astype(np.float64)
    _, queue, rate, _, _, _, pace, last = now.T
    before = windows[rows, np.maximum(lengths - 2, 0), 6]
    load = np.maximum(np.maximum(rate + queue, 0.05) + 1.5 * (pace - before), 0.1)
    error = np.log(0.99 * np.maximum(pace, 1e-3) ** -0.015 / load)
    error = np.where(error > 0, np.minimum(0.5 * error, 0.3), 0.8 * error)
    factor = np.where(np.abs(error) < 0.03, np.log(1.01), error)
    factor = np.clip(np.where(rate == 0, -_LOG_2, factor), -_LOG_2, _LOG_2)
    change = np.exp(factor - last * _LOG_2)
    answers = np.where(change >= 1, (change - 1) / 0.5, (1 - 1 / change) / 0.5)
    return np.clip(answers, -0.98, 0.98).astype(np.float32)[:, None]


def case(episode_number: int) -> Scenario:
    """The scenario of an episode: the cases of ``fdcc-pay`` in turn."""
    scenario = CASES[episode_number % len(CASES)].under(AGENT)
    return scenario.model_copy(update={"clock": PerFlowRtt(rtt_fraction=0.5)})


def main() -> None:
    """Simulates, fits, writes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--out", type=Path, default=ROOT / "runs" / "expressible" / "policy.safetensors")
    options = arguments.parse_args()
    th.manual_seed(options.seed)
    generator = np.random.default_rng(options.seed)
    spec = read_policy(ROOT / "checkpoints" / "fdcc-zhang2023" / "policy.safetensors").spec
    widths = {"hidden": 16, "shortcut": 32, "net_arch": [32]}  # half of those in configs/fdcc_zhang2023.yaml
    policy = RecurrentTD3Policy(
        observation_space(spec.fields),
        Box(-1.0, 1.0, shape=(1,)),
        lambda _: 3e-3,
        history_length=spec.history,
        append_last_action=False,
        **widths,
    )
    task = Task(spec.fields, make_reward("staged"), spec.action_map, spec.telemetry_bytes)
    parts: list[tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]] = []
    with Rollouts(case, task=task, seed=options.seed) as rollouts:
        for number in range(ROUNDS):
            file = PolicyFile(spec, read_fdcc_policy(policy).tensors)
            for exploration in EXPLORATIONS:
                for _ in CASES:
                    rollouts.begin(policy_bytes(file), exploration)
            for _ in range(len(EXPLORATIONS) * len(CASES)):
                rollout = rollouts.next()
                windows, lengths = histories_of(rollout.observations, rollout.age, spec.history)
                rows = np.flatnonzero(rollout.decided)
                rows = generator.choice(rows, min(ROWS, len(rows)), replace=False)
                parts.append((windows[rows], lengths[rows], law(windows[rows], lengths[rows])))
            loss = fit(policy, parts, number)
            print(f"{number + 1} of {ROUNDS} rounds, squared error {loss:.2g}", flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_policy(options.out, PolicyFile(spec, read_fdcc_policy(policy).tensors))
    print(options.out)


def fit(
    policy: RecurrentTD3Policy,
    parts: list[tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]],
    number: int,
) -> float:
    """Fits the actor to all answers so far; returns the last squared error."""
    windows, lengths, answers = (th.from_numpy(np.concatenate(arrays)) for arrays in zip(*parts, strict=True))
    steps = LAST_STEPS if number == ROUNDS - 1 else STEPS
    optimiser = policy.actor.optimizer
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * 0.85**number * (1 - 0.95 * step / steps)
        rows = th.randint(0, len(answers), (BATCH,))
        loss = (policy.actor(History(windows[rows], lengths[rows])) - answers[rows]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return loss.item()


if __name__ == "__main__":
    main()
