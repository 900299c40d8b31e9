# SPDX-License-Identifier: GPL-2.0-or-later
"""Tiny untrained policies for several tests, as files and as checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch as th

from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.agents.trainer.spaces_only import SpacesOnly
from ns3_env.agents.trainer.trainer import GradientTrainer
from ns3_env.policies.file import PolicyFile
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.tensors import Layer, Widths, tensor_shapes

#: What a configuration says of each agent that is exported.
AGENTS: dict[str, dict[str, Any]] = {
    "fdcc": {"name": "fdcc", "hidden": 8, "shortcut": 6, "net_arch": [7], "history_length": 4},
    "rlcc": {"name": "rlcc", "base_ns": None, "history_length": 3, "net_arch": [7]},
    "ppo": {"name": "ppo", "options": {"n_steps": 16, "batch_size": 16}},
    "sac": {"name": "sac", "options": {"policy_kwargs": {"net_arch": [16, 12]}, "buffer_size": 100}},
    "td3": {"name": "td3", "options": {"policy_kwargs": {"net_arch": [16, 12]}, "buffer_size": 100}},
}
FIELDS = ["rtt", "qlen", "qlen_slope"]
#: What an agent asks of its environment.
NEEDS: dict[str, dict[str, Any]] = {
    "rlcc": {"fields": ["last_action", "rtt", "pacing_rate"], "rollout": "inside"}
}


def configuration(agent: dict[str, Any], **env: Any) -> RunConfig:
    """A run of this agent."""
    clock = {"name": "synchronous" if find_agent(agent["name"]).synchronous else "per_flow_rtt"}
    action = {"name": "multiplicative_window", "alpha": 0.25, "rounding": "none"}
    needed = NEEDS.get(agent["name"], {})
    chosen = {"fields": FIELDS, "clock": clock, "action": action, **env, **needed}
    return RunConfig.model_validate({"agent": agent, "env": chosen, "seed": 5})


def trainer(agent: dict[str, Any], **env: Any) -> GradientTrainer:
    """A trainer whose networks answer all but zero, as trained ones do."""
    config = configuration(agent, **env)
    made = find_agent(agent["name"]).trainer(config, SpacesOnly(config.env.fields, config.env.action.name, 2))
    assert isinstance(made, GradientTrainer)
    generator = th.Generator().manual_seed(3)
    with th.no_grad():
        for parameter in made.model.policy.parameters():
            parameter.add_(0.2 * th.randn(parameter.shape, generator=generator))
    return made


def checkpoint(folder: Path, agent: dict[str, Any], **env: Any) -> Path:
    """A checkpoint outside of a run."""
    folder.mkdir()
    trainer(agent, **env).save(folder)
    return folder


def tiny(kind: str = "mlp", **changes: Any) -> PolicyFile:
    """A policy of a few random weights."""
    spec = PolicySpec.model_validate(
        {
            "observation": [{"field": "rtt", "transform": "symlog"}, {"field": "qlen"}, {"field": "goodput"}],
            "history": 1 if kind == "mlp" else 3,
            "network": {"kind": kind, "hidden_activation": "relu", "output_activation": "tanh"},
            "action": {"name": "multiplicative_window", "alpha": 0.5},
            "clock": {"name": "per_flow_rtt"},
            "telemetry_bytes": 42,
            **changes,
        }
    )
    generator = np.random.default_rng(1)
    shapes = tensor_shapes(spec, Widths((Layer(4), Layer(1, bias=False)), hidden=2, shortcut=5))
    return PolicyFile(
        spec, {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    )
