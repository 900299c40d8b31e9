# SPDX-License-Identifier: GPL-2.0-or-later
"""Example of a new agent, DDPG: its configuration, its trainer, and a declaration."""

from __future__ import annotations

from pydantic import Field
from stable_baselines3 import DDPG
from stable_baselines3.common.base_class import BaseAlgorithm

from ns3_env.agents.configuration.registry import Agent, AgentConfig
from ns3_env.agents.sb3.export import of_sb3
from ns3_env.agents.training.policy_tensors import Exported
from ns3_env.agents.training.trainer import GradientTrainer
from ns3_env.envs.sb3_buffers import masked


class DdpgConfig(AgentConfig):
    """Keys of the section ``agent`` of a configuration."""

    learning_rate: float = Field(default=1e-3, gt=0)
    gamma_per_rtt: float = Field(default=0.99, gt=0, le=1, description="discount per base RTT")
    learning_starts: int = Field(default=1000, ge=0, description="steps taken at random first")


class DdpgTrainer(GradientTrainer):
    """Makes the algorithm; learning, checkpoints and logs are the base's."""

    def _make(self) -> BaseAlgorithm:
        agent = self.config.agent
        assert isinstance(agent, DdpgConfig)
        return masked(
            DDPG(
                "MlpPolicy",
                self.env,
                learning_rate=agent.learning_rate,
                learning_starts=agent.learning_starts,
                gamma=agent.gamma_per_rtt,  # masked() raises it to the power of each decision's duration
                seed=self.config.seed,
            )
        )

    def network(self) -> Exported:
        """Content of ``policy.safetensors``; without it, this class runs checkpoints."""
        return of_sb3(self.model.policy)


#: ``agent.name=examples.ddpg:AGENT`` on the command line of ``train.py`` is enough to use it.
AGENT = Agent(config=DdpgConfig, trainer=DdpgTrainer, synchronous=True)
