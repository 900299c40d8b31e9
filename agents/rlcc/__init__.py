# SPDX-License-Identifier: GPL-2.0-or-later
"""What is RL-CC? A tiny network that scales a flow's rate, from its RTT alone (Tessler et al. 2022)."""

from agents.registry import Agent
from agents.rlcc.algorithm import RLCC
from agents.rlcc.config import RlccConfig
from agents.rlcc.trainer import RlccTrainer

AGENT = Agent(config=RlccConfig, trainer=RlccTrainer, rollouts=True, channel=False)

__all__ = ["AGENT", "RLCC", "RlccConfig"]
