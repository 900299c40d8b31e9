# SPDX-License-Identifier: GPL-2.0-or-later
"""Objectives that judge an episode under a controller, and the one by the agent's reward."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from ns3_env.agents.search.config import JudgeConfig
from ns3_env.agents.search.episodes import Episode
from ns3_env.agents.search.recorded_reward import recorded_reward, with_recordings
from ns3_env.agents.trainer.environment import make_action_and_reward
from ns3_env.scenario import Controller
from ns3_env.simulator.pool import EpisodePool
from ns3_env.simulator.results import Results


@dataclass(frozen=True)
class Judgement:
    """An episode's score, the more the better, NaN where it has none; and what it is the sum of, by name."""

    score: float
    terms: Mapping[str, float] = field(default_factory=dict)


class Objective(Protocol):
    """Judges episodes."""

    @property
    def heading(self) -> str:
        """What a score is, in words."""
        ...

    def begin(self, players: EpisodePool, episode: Episode, controller: Controller) -> Future[Judgement]:
        """Plays an episode, all its flows under the controller, and judges it; see ``EpisodePool.submit``."""
        ...


class RewardObjective:
    """The agent's reward of a decision, as read from recordings (``recorded_reward``)."""

    heading = "reward of a decision"

    def __init__(self, judge: JudgeConfig) -> None:
        """Raises ConfigError where there is no such reward."""
        _, self._reward = make_action_and_reward(judge.of_agent(), "configuration")
        self._rtt_fraction = judge.clock.rtt_fraction

    def begin(self, players: EpisodePool, episode: Episode, controller: Controller) -> Future[Judgement]:
        """See ``Objective``."""
        played = with_recordings(episode.scenario, controller)
        return players.submit(played, self._judge)

    def _judge(self, results: Results) -> Judgement:
        return Judgement(recorded_reward(results, self._reward, self._rtt_fraction))
