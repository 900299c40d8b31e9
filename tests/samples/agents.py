# SPDX-License-Identifier: GPL-2.0-or-later
"""Tiny untrained agents: their configurations, trainers and checkpoints."""

from pathlib import Path
from typing import Any

import torch as th

from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.agents.training.rollout_env import SpacesOnly
from ns3_env.agents.training.trainer import GradientTrainer

#: Custom code, which a test has to trust.
RECURRENT_PPO = "sb3_contrib:RecurrentPPO"
#: The configuration of each agent that is exported.
AGENTS: dict[str, dict[str, Any]] = {
    "fdcc": {"name": "fdcc", "hidden": 8, "shortcut": 6, "net_arch": [7], "history_length": 4},
    "rlcc": {"name": "rlcc", "base_ns": None, "history_length": 3, "net_arch": [7]},
    "recurrent_ppo": {"name": RECURRENT_PPO, "options": {"policy_kwargs": {"lstm_hidden_size": 9}}},
    "ppo": {"name": "ppo", "options": {"n_steps": 16, "batch_size": 16}},
    "sac": {"name": "sac", "options": {"policy_kwargs": {"net_arch": [16, 12]}, "buffer_size": 100}},
    "td3": {"name": "td3", "options": {"policy_kwargs": {"net_arch": [16, 12]}, "buffer_size": 100}},
}
FIELDS = ["rtt", "qlen", "qlen_slope"]
#: Settings of the environment that an agent needs.
NEEDS: dict[str, dict[str, Any]] = {
    "rlcc": {"fields": ["last_action", "rtt", "pacing_rate"], "placement": "simulator"}
}


def configuration(agent: dict[str, Any], **env: Any) -> RunConfig:
    """A run of this agent."""
    clock = {"name": "synchronous" if find_agent(agent["name"]).synchronous else "per_flow_rtt"}
    action = {"name": "multiplicative_window", "alpha": 0.25, "rounding": "none"}
    needed = NEEDS.get(agent["name"], {})
    chosen = {"fields": FIELDS, "clock": clock, "action": action, **env, **needed}
    return RunConfig.model_validate({"agent": agent, "env": chosen, "seed": 5})


def trainer(agent: dict[str, Any], **env: Any) -> GradientTrainer:
    """A trainer whose networks have nonzero outputs, as trained ones do."""
    config = configuration(agent, **env)
    learner = find_agent(agent["name"]).trainer(
        config, SpacesOnly(config.env.fields, config.env.action.name, 2)
    )
    assert isinstance(learner, GradientTrainer)
    generator = th.Generator().manual_seed(3)
    with th.no_grad():
        for parameter in learner.model.policy.parameters():
            parameter.add_(0.2 * th.randn(parameter.shape, generator=generator))
    return learner


def checkpoint(folder: Path, agent: dict[str, Any], **env: Any) -> Path:
    """A checkpoint outside of a run."""
    folder.mkdir()
    trainer(agent, **env).save(folder)
    return folder
