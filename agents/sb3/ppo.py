# SPDX-License-Identifier: GPL-2.0-or-later
"""PPO as an agent: Stable-Baselines3's, across the channel or on episodes run inside simulators."""

from __future__ import annotations

import torch as th
from stable_baselines3 import PPO
from stable_baselines3.common.base_class import BaseAlgorithm

from ns3_env.agents.configuration.registry import Agent
from ns3_env.agents.sb3.censored import CensoredPolicy
from ns3_env.agents.sb3.config import PpoConfig
from ns3_env.agents.sb3.episodes import EpisodeTrainer, OfEpisodes
from ns3_env.agents.sb3.layers import has_plain_layers
from ns3_env.agents.sb3.surrogate import Update


class EpisodePPO(OfEpisodes, PPO):
    """PPO that learns from whole episodes."""

    #: Passes of only the critic. Set by a trainer with a configuration.
    actor_starts = 0

    def train(self) -> None:
        """Updates as Stable-Baselines3 does, but for the actor, which stays for the first passes; with
        gradients that are written out (``surrogate``), if the networks are the usual ones."""
        if isinstance(self.policy, CensoredPolicy):
            for parameter in self.policy.actor_parameters():
                parameter.requires_grad_(self._n_updates >= self.actor_starts)
        if not has_plain_layers(self.policy):
            super().train()
            return
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        with th.no_grad():
            Update(self, self.policy).run(self.rollout_buffer)


class PpoTrainer(EpisodeTrainer):
    """Trainer of PPO, in either place."""

    of_episodes = EpisodePPO

    def _make(self) -> BaseAlgorithm:
        agent, algorithm = self.config.agent, super()._make()
        if isinstance(algorithm, EpisodePPO) and isinstance(agent, PpoConfig):
            algorithm.actor_starts = agent.actor_starts
        return algorithm


AGENT = Agent(config=PpoConfig, trainer=PpoTrainer, synchronous=True, rollouts=True)
