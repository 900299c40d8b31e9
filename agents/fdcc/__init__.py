# SPDX-License-Identifier: GPL-2.0-or-later
"""What is FDCC? A TD3 agent with recurrent encoders that shares one policy among all flows (Zhang 2023)."""

from ns3_env.agents.fdcc.algorithm import FDCC
from ns3_env.agents.fdcc.config import FdccConfig
from ns3_env.agents.fdcc.trainer import FdccTrainer
from ns3_env.agents.registry import Agent

AGENT = Agent(config=FdccConfig, trainer=FdccTrainer, rollouts=True)

__all__ = ["AGENT", "FDCC", "FdccConfig"]
