# SPDX-License-Identifier: GPL-2.0-or-later
"""Which scenario comes next? Stages of growing difficulty, earlier ones kept (Zhang 2023, sec. 4.4)."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field, field_validator

from agents.training.config import EnvConfig
from agents.training.environment import make_scenario, merge
from ns3_env.bounds import Count, Setting
from ns3_env.errors import ConfigError
from ns3_env.scenario import Scenario
from ns3_env.strict import Strict, validate


class Advance(Strict):
    """When a stage is left: after so many of its episodes, or before, once the mean return is good enough."""

    after_episodes: Count = Field(ge=1, description="episodes begun since the stage was entered")
    return_above: float | None = Field(
        default=None, description="leave before, once the mean return exceeds it"
    )
    window: Setting = Field(default=20, ge=1, description="finished episodes that the mean is taken over")


class StageConfig(Strict):
    """One stage: a name, what differs from the curriculum's common scenario, and when to move on."""

    name: str
    scenario: dict[str, Any] = Field(default_factory=dict)
    advance: Advance | None = Field(default=None, description="none: the last stage, which is never left")


class CurriculumConfig(Strict):
    """curricula/*.yaml."""

    scenario: dict[str, Any] = Field(default_factory=dict, description="what all stages have in common")
    earlier_share: float = Field(
        default=0.5, ge=0, le=1, description="share of episodes from stages already passed"
    )
    stages: list[StageConfig] = Field(min_length=1)

    @field_validator("stages")
    @classmethod
    def _only_the_last_stays(cls, stages: list[StageConfig]) -> list[StageConfig]:
        names = [stage.name for stage in stages]
        if len(set(names)) < len(names):
            raise ValueError("two stages have the same name")
        for stage in stages[:-1]:
            if stage.advance is None:
                raise ValueError(f"stage {stage.name!r} has no 'advance', so that it would never be left")
        return stages


class CurriculumState(Strict):
    """What a checkpoint keeps of a curriculum; ``entered`` has the first episode of each stage so far."""

    stage: int = Field(ge=0)
    entered: list[int] = Field(min_length=1)
    next_index: int = Field(ge=0)
    returns: list[float]


class Curriculum:
    """The scenario of each episode, and how far training has come.

    Called with an episode's index it returns the episode's scenario. The draw depends
    on the seed, the index and the stage alone. Where no stage asks for a return, the stage depends on the
    index alone, so an episode is the same however many simulators there are.
    """

    def __init__(self, config: CurriculumConfig, env: EnvConfig, seed: int, source: str) -> None:
        """
        Args:
            config: the stages.
            env: gives the scenarios their clock.
            seed: of the draws.
            source: file named in errors.

        Raises:
            ScenarioError: a stage's scenario is wrong.
        """
        self.config = config
        self.seed = seed
        self.scenarios = [
            make_scenario(env, merge(config.scenario, stage.scenario), f"{source}: stage {stage.name!r}")
            for stage in config.stages
        ]
        self.entered = [0]  # index of the first episode of each stage so far
        self.next_index = 0
        self._returns: deque[float] = deque()

    @property
    def stage(self) -> int:
        """Number of the latest stage."""
        return len(self.entered) - 1

    @property
    def stage_name(self) -> str:
        """Name of the current stage."""
        return self.config.stages[self.stage].name

    @property
    def most_flows(self) -> int:
        """Flows under the agent in the largest scenario: slots that an environment needs."""
        return max(scenario.agent_flow_count for scenario in self.scenarios)

    def __call__(self, episode: int) -> Scenario:
        """Scenario of the episode with this number."""
        self.next_index = max(self.next_index, episode + 1)
        self._move_on(episode)
        chosen = stage = bisect_right(self.entered, episode) - 1
        random = np.random.default_rng((self.seed, episode))
        if stage > 0 and random.random() < self.config.earlier_share:
            chosen = int(random.integers(stage))
        return self.scenarios[chosen]

    def record(self, mean_return: float) -> None:
        """An episode has ended with this mean return of its flows."""
        self._returns.append(mean_return)

    def _move_on(self, index: int) -> None:
        advance = self.config.stages[self.stage].advance
        if advance is None or self.stage == len(self.config.stages) - 1:
            return
        # Simulators ask for their episodes out of order, so what an index gets hangs on no other call.
        planned = self.entered[-1] + advance.after_episodes
        if index >= planned:
            self._enter(planned)
            self._move_on(index)
            return
        recent = list(self._returns)[-advance.window :]
        good = (
            advance.return_above is not None
            and len(recent) == advance.window
            and float(np.mean(recent)) > advance.return_above
        )
        if good and index > self.entered[-1]:
            self._enter(index)

    def _enter(self, index: int) -> None:
        self.entered.append(index)
        self._returns.clear()

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {
            "stage": self.stage,
            "entered": list(self.entered),
            "next_index": self.next_index,
            "returns": list(self._returns),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on where ``state()`` was taken.

        Raises:
            ConfigError: it is no such state, or belongs to a curriculum with more stages.
        """
        kept = validate(state, CurriculumState, "checkpoint: curriculum")
        if len(kept.entered) > len(self.config.stages):
            raise ConfigError(f"checkpoint: stage {kept.stage} is none of the curriculum's")
        self.entered = list(kept.entered)
        self.next_index = kept.next_index
        self._returns = deque(kept.returns)
