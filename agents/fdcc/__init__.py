# SPDX-License-Identifier: GPL-2.0-or-later
"""What is FDCC? A TD3 agent with recurrent encoders that shares one policy among all flows (Zhang 2023)."""

from agents.fdcc.algorithm import FDCC
from agents.fdcc.config import FdccConfig
from agents.fdcc.trainer import FdccTrainer
from agents.registry import Agent

AGENT = Agent(config=FdccConfig, trainer=FdccTrainer, rollouts=True)

__all__ = ["AGENT", "FDCC", "FdccConfig"]
