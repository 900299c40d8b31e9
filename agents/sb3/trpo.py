# SPDX-License-Identifier: GPL-2.0-or-later
"""TRPO as an agent: sb3-contrib's, on episodes run inside simulators."""

from __future__ import annotations

from sb3_contrib import TRPO

from ns3_env.agents.configuration.registry import Agent
from ns3_env.agents.sb3.config import EpisodeConfig
from ns3_env.agents.sb3.episodes import EpisodeTrainer, OfEpisodes


class EpisodeTRPO(OfEpisodes, TRPO):
    """TRPO that learns from whole episodes."""


class TrpoTrainer(EpisodeTrainer):
    """Trainer of TRPO."""

    of_episodes = EpisodeTRPO


AGENT = Agent(config=EpisodeConfig, trainer=TrpoTrainer, rollouts=True, channel=False)
