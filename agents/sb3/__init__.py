# SPDX-License-Identifier: GPL-2.0-or-later
"""Stable-Baselines3's TD3, SAC and PPO as agents."""

from ns3_env.agents.configuration.registry import Agent
from ns3_env.agents.sb3.config import Sb3Config
from ns3_env.agents.sb3.trainer import Sb3Trainer

AGENT = Agent(config=Sb3Config, trainer=Sb3Trainer, synchronous=True)

__all__ = ["AGENT", "Sb3Config", "Sb3Trainer"]
