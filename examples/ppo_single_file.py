# SPDX-License-Identifier: GPL-2.0-or-later
"""PPO in a single file, with continuous actions, on Gymnasium's vector of simulators.

    python examples/ppo_single_file.py --steps 50000
    python examples/ppo_single_file.py --steps 50000 --tensorboard runs/ppo-single-file
    python examples/ppo_single_file.py --steps 50000 --out mine.safetensors

Each environment is an incast with one controlled flow; the rest are under HPCC. The vector environment
resets in the step that ends an episode (Gymnasium's SAME_STEP), so each row of each step is a decision:
nothing needs a mask. A flow's return is minus its slowdown, and one that is cut has paid for what is left of
it: after either end nothing is worth anything. Decisions last different times: discounts count in base RTTs.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributions import Normal

import ns3_env


@dataclass(frozen=True)
class Settings:
    """Settings of the command line."""

    steps: int = 50_000
    num_envs: int = 8
    flows: int = 4
    num_steps: int = 128
    learning_rate: float = 1e-3
    gamma_per_rtt: float = 0.99
    gae_lambda: float = 0.95
    minibatches: int = 4
    epochs: int = 8
    clip: float = 0.2
    entropy_weight: float = 0.001
    value_weight: float = 0.5
    max_gradient_norm: float = 0.5
    seed: int = 1
    tensorboard: Path | None = None
    out: Path | None = None


def parse() -> Settings:
    """The settings, one option each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, default in vars(Settings()).items():
        kind = Path if default is None else type(default)
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=kind, default=default, help=f"default: {default}"
        )
    return Settings(**vars(parser.parse_args()))


def layer(inputs: int, outputs: int, gain: float = 2**0.5) -> nn.Linear:
    """A linear layer with orthogonal weights."""
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


class Agent(nn.Module):
    """A Gaussian policy and a value, each an MLP; observations (n, D), actions (n, A)."""

    def __init__(self, observation_size: int, action_size: int) -> None:
        super().__init__()
        self.critic = nn.Sequential(
            layer(observation_size, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0)
        )
        self.mean = nn.Sequential(
            layer(observation_size, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, action_size, 0.01)
        )
        self.log_std = nn.Parameter(torch.full((action_size,), -0.5))

    def value(self, observations: Tensor) -> Tensor:
        """(n,)"""
        values: Tensor = self.critic(observations).squeeze(-1)
        return values

    def policy(self, observations: Tensor) -> Normal:
        """Normal distributions of the actions, independent of each other."""
        return Normal(self.mean(observations), self.log_std.exp())


@dataclass
class Rollout:
    """Data of ``num_steps`` steps of all environments; each tensor (num_steps, num_envs, ...)."""

    observations: Tensor
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    advantages: Tensor
    rewards: Tensor


def tensor(array: NDArray[np.generic]) -> Tensor:
    """Converts an array to a float32 tensor."""
    return torch.as_tensor(array, dtype=torch.float32)


@torch.no_grad()
def collect(
    agent: Agent, envs: gym.vector.VectorEnv, first: NDArray[np.float32], settings: Settings
) -> tuple[Rollout, NDArray[np.float32]]:
    """Runs ``num_steps`` steps from the observations ``first`` on; also returns the last observations."""
    seen, acted, log_probs, values, rewards, after, discounts = [], [], [], [], [], [], []
    now = first
    for _ in range(settings.num_steps):
        observations = tensor(now)
        policy = agent.policy(observations)
        actions = policy.sample()
        low, high = envs.single_action_space.low, envs.single_action_space.high  # type: ignore[attr-defined]
        now, reward, terminated, truncated, infos = envs.step(np.clip(actions.numpy(), low, high))
        lives = tensor(~(terminated | truncated))  # otherwise ``now`` is of the next episode
        seen.append(observations)
        acted.append(actions)
        log_probs.append(policy.log_prob(actions).sum(-1))
        values.append(agent.value(observations))
        rewards.append(tensor(reward))
        after.append(agent.value(tensor(now)))
        discounts.append(lives * settings.gamma_per_rtt ** tensor(infos["elapsed"]))
    advantages = torch.zeros(settings.num_steps, envs.num_envs)
    running = torch.zeros(envs.num_envs)
    for t in reversed(range(settings.num_steps)):  # generalised advantage estimation
        delta = rewards[t] + discounts[t] * after[t] - values[t]
        running = delta + discounts[t] * settings.gae_lambda * running
        advantages[t] = running
    stacked = (torch.stack(parts) for parts in (seen, acted, log_probs, values))
    return Rollout(*stacked, advantages, torch.stack(rewards)), now


def update(agent: Agent, optimiser: torch.optim.Optimizer, rollout: Rollout, settings: Settings) -> float:
    """Some epochs of the clipped objective over a rollout; the last estimate of the KL divergence."""
    observations, actions = rollout.observations.flatten(0, 1), rollout.actions.flatten(0, 1)
    log_probs, advantages = rollout.log_probs.flatten(), rollout.advantages.flatten()
    returns = advantages + rollout.values.flatten()
    divergence = 0.0
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(returns)).chunk(settings.minibatches):
            policy = agent.policy(observations[rows])
            log_ratio = policy.log_prob(actions[rows]).sum(-1) - log_probs[rows]
            ratio = log_ratio.exp()
            gain = (advantages[rows] - advantages[rows].mean()) / (advantages[rows].std() + 1e-8)
            clipped = ratio.clamp(1 - settings.clip, 1 + settings.clip)
            policy_loss = -torch.min(gain * ratio, gain * clipped).mean()
            value_loss = 0.5 * (agent.value(observations[rows]) - returns[rows]).square().mean()
            entropy = policy.entropy().sum(-1).mean()
            loss = policy_loss + settings.value_weight * value_loss - settings.entropy_weight * entropy
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), settings.max_gradient_norm)
            optimiser.step()
            divergence = (ratio - 1 - log_ratio).mean().item()
    return divergence


@torch.no_grad()
def mean_slowdown(agent: Agent, settings: Settings, flows: int = 16) -> float:
    """Mean slowdown of flows under the policy's mean action, on the same episodes each time."""
    envs = make(settings)
    now, _ = envs.reset(seed=1_000)
    told: list[float] = []
    while len(told) < flows:
        actions = agent.policy(tensor(now)).mean.clamp(-1, 1).numpy()
        now, _, terminated, truncated, infos = envs.step(actions)
        told += [infos["final_info"]["slowdown"][i] for i in np.flatnonzero(terminated | truncated)]
    envs.close()
    return float(np.mean(told))


def make(settings: Settings) -> gym.vector.VectorEnv:
    """The simulators, side by side."""
    return gym.make_vec(
        "ns3_env/RdmaIncast-v1",
        num_envs=settings.num_envs,
        vectorization_mode="vector_entry_point",
        flows=settings.flows,
        reward="slowdown",
    )


def main() -> None:
    """Learns, and prints the result."""
    settings = parse()
    torch.set_num_threads(1)  # the networks are small
    torch.manual_seed(settings.seed)
    envs = make(settings)
    observed, acted = envs.single_observation_space.shape, envs.single_action_space.shape
    assert observed is not None
    assert acted is not None
    agent = Agent(observed[0], acted[0])
    optimiser = torch.optim.Adam(agent.parameters(), lr=settings.learning_rate, eps=1e-5)
    writer = None
    if settings.tensorboard is not None:
        from torch.utils.tensorboard import SummaryWriter

        writer = SummaryWriter(str(settings.tensorboard))
    before = mean_slowdown(agent, settings)
    now, _ = envs.reset(seed=settings.seed)
    per_update = settings.num_steps * settings.num_envs
    began = time.monotonic()
    updates = max(1, settings.steps // per_update)
    for number in range(1, updates + 1):
        optimiser.param_groups[0]["lr"] = settings.learning_rate * (1 - (number - 1) / updates)
        rollout, now = collect(agent, envs, now, settings)
        divergence = update(agent, optimiser, rollout, settings)
        if writer is not None:
            decisions = number * per_update
            writer.add_scalar("charts/cost_per_decision", -float(rollout.rewards.mean()), decisions)
            writer.add_scalar("charts/decisions_per_s", decisions / (time.monotonic() - began), decisions)
            writer.add_scalar("losses/kl_divergence", divergence, decisions)
    if settings.out is not None:
        print(f"exported: {ns3_env.export(agent.mean, envs, settings.out)}")
    envs.close()
    if writer is not None:
        writer.close()
    after = mean_slowdown(agent, settings)
    print(f"mean slowdown: {before:.3f} before, {after:.3f} after {updates * per_update} steps")


if __name__ == "__main__":
    main()
