# SPDX-License-Identifier: GPL-2.0-or-later
"""RL-CC: a tiny network that scales a flow's rate from only its RTT (Tessler et al. 2022)."""

from ns3_env.agents.configuration.registry import Agent
from ns3_env.agents.rlcc.algorithm import RLCC
from ns3_env.agents.rlcc.config import RlccConfig
from ns3_env.agents.rlcc.trainer import RlccTrainer

AGENT = Agent(config=RlccConfig, trainer=RlccTrainer, rollouts=True, channel=False)

__all__ = ["AGENT", "RLCC", "RlccConfig"]
