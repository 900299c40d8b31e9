# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a Stable-Baselines3 algorithm trained? On the synchronous clock, on the slots that are due."""

from __future__ import annotations

from typing import Any, ClassVar

from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.base_class import BaseAlgorithm

from ns3_env.agents.export.networks import Exported
from ns3_env.agents.sb3.config import Sb3Config
from ns3_env.agents.sb3.export import of_sb3
from ns3_env.agents.training.trainer import GradientTrainer
from ns3_env.errors import ConfigError
from ns3_env.masked_buffers import masked

#: What an algorithm's constructor raises for options that it cannot take, or has no memory for.
_REFUSALS = (TypeError, ValueError, AssertionError, ArithmeticError, LookupError, RuntimeError, MemoryError)


class Sb3Trainer(GradientTrainer):
    """TD3, SAC or PPO as Stable-Baselines3 has them."""

    ALGORITHMS: ClassVar[dict[str, type[BaseAlgorithm]]] = {"td3": TD3, "sac": SAC, "ppo": PPO}

    def _make(self) -> BaseAlgorithm:
        agent = self.config.agent
        assert isinstance(agent, Sb3Config)
        algorithm = self.ALGORITHMS[agent.name]
        options: dict[str, Any] = {"device": "cpu", "seed": self.config.seed, **agent.options}
        try:
            return masked(algorithm(agent.policy, self.env, **options))
        except _REFUSALS as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise ConfigError(f"agent: {agent.name} does not accept its options: {said}") from error

    def network(self) -> Exported:
        """See ``Trainer``."""
        return of_sb3(self.model.policy)
