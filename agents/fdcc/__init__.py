# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC: TD3 with recurrent encoders and one policy shared by all flows (Zhang 2023)."""

from ns3_env.agents.configuration.registry import Agent
from ns3_env.agents.fdcc.algorithm import FDCC
from ns3_env.agents.fdcc.config import FdccConfig
from ns3_env.agents.fdcc.trainer import FdccTrainer

AGENT = Agent(config=FdccConfig, trainer=FdccTrainer, rollouts=True)

__all__ = ["AGENT", "FDCC", "FdccConfig"]
