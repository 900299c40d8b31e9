# SPDX-License-Identifier: GPL-2.0-or-later
"""Curriculum: stages of growing difficulty, with earlier ones kept (Zhang 2023, sec. 4.4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from ns3_env.agents.configuration.config import EnvConfig, Keys, Named
from ns3_env.agents.configuration.inputs import make_scenario, merge
from ns3_env.agents.curriculum.drawn import DrawConfig, DrawSampler
from ns3_env.agents.curriculum.families import Range, draw
from ns3_env.agents.curriculum.plateau import Plateau, PlateauState, ValidationConfig
from ns3_env.config.bounds import WHY_SETTING, Count, few
from ns3_env.config.imports import made_by
from ns3_env.config.model import Strict, validate
from ns3_env.config.units import plain
from ns3_env.errors import ConfigError
from ns3_env.scenario import Scenario


@runtime_checkable
class ScenarioSampler(Protocol):
    """Draws the scenario of each episode.

    It may also have ``record(mean_return)``, called as episodes end, and ``state()`` with ``restore(state)``,
    whose mapping of numbers, texts and lists goes into checkpoints; and ``held_back``, called as it is
    itself, for the scenarios of validations.

    Attributes:
        most_flows: flows under the agent in the largest scenario that it draws.
    """

    most_flows: int

    def __call__(self, episode: int, random: np.random.Generator) -> Scenario | Mapping[str, Any]:
        """The scenario, or its keys.

        Args:
            episode: the episode's number.
            random: generator seeded by the run's seed and the episode; a scenario drawn only from it is the
                same in every run.
        """
        ...


def make_sampler(config: Named, source: str) -> ScenarioSampler:
    """The sampler that a curriculum names. Raises ConfigError, naming ``source`` and the key."""
    expected = "a ScenarioSampler, with 'most_flows' and a call of an episode's number and a generator"
    try:
        sampler: ScenarioSampler = made_by(config.name, config.settings, ScenarioSampler, expected)
    except ConfigError as error:
        raise ConfigError(f"{source}: sampler: {error}") from error
    return sampler


#: First number of validations' draws, above those of all episodes.
_HELD_BACK = 2**32
#: Share of episodes that are drawn uniformly from all stages if gaps to a controller decide on the others.
_UNIFORM = 0.3


class Advance(Strict):
    """End of a stage: after this number of its episodes.

    If the curriculum has a ``validation``, a stage also ends once its score improves no more.
    """

    after_episodes: Count = Field(ge=1, description="episodes started since the stage was entered")


class StageConfig(Strict):
    """One stage: a name, the differences from the curriculum's common scenario, and when to move on."""

    name: str
    scenario: Keys = Field(default_factory=dict)
    randomise: Annotated[dict[str, Range], BeforeValidator(plain)] = Field(
        default_factory=dict,
        description="keys of the scenario, such as topology.rate_bps, that every episode draws anew from "
        "[least, largest], their logarithms uniform",
    )
    advance: Advance | None = Field(default=None, description="none: the last stage, which is never left")


class CurriculumConfig(Strict):
    """curricula/*.yaml."""

    scenario: Keys = Field(default_factory=dict, description="what all stages have in common")
    earlier_share: float = Field(
        default=0.5, ge=0, le=1, description="share of episodes from stages already passed"
    )
    validation: ValidationConfig | None = Field(
        default=None, description="none, and across the channel: stages are left by count"
    )
    sampler: Named | None = Field(
        default=None, description="pkg.module:name of what draws the episodes' scenarios, instead of stages"
    )
    tasks: Annotated[list[str], few(100, WHY_SETTING)] | None = Field(
        default=None,
        min_length=1,
        description="names of tasks (ns3_env.tasks) whose training scenarios are drawn, instead of stages",
    )
    draw: DrawConfig | None = Field(
        default=None, description="families of networks and traffic that are drawn from, instead of stages"
    )
    stages: list[StageConfig] = Field(default=[], validate_default=True)

    @field_validator("tasks")
    @classmethod
    def _there_are_such(cls, tasks: list[str] | None) -> list[str] | None:
        from ns3_env.tasks.networks import task

        return None if tasks is None else [task(name).name for name in tasks]

    @field_validator("stages")
    @classmethod
    def _only_the_last_stays(cls, stages: list[StageConfig], info: ValidationInfo) -> list[StageConfig]:
        data = info.data  # invalid keys are not in it, and have their own errors
        sampled = any(key not in data or data[key] is not None for key in ("sampler", "tasks", "draw"))
        if sampled and not stages:
            return [StageConfig(name="sampled")]
        if sampled and [stage.name for stage in stages] != ["sampled"]:
            raise ValueError("tasks, 'draw' or a sampler give the scenarios, and stages would have no effect")
        if not stages:
            raise ValueError("there is no stage, no task, nothing to draw from, and no sampler")
        names = [stage.name for stage in stages]
        if len(set(names)) < len(names):
            raise ValueError("two stages have the same name")
        validation = data.get("validation")
        by_gap = validation is not None and validation.gap_to is not None
        for stage in stages[:-1]:
            if stage.advance is None and not by_gap:
                raise ValueError(f"stage {stage.name!r} has no 'advance', so that it would never be left")
        return stages


class CurriculumState(Strict):
    """State of a curriculum in a checkpoint; ``entered`` has the first episode of each stage so far."""

    stage: int = Field(ge=0)
    entered: list[int] = Field(min_length=1)
    next_index: int = Field(ge=0)
    returns: list[float] = Field(default=[], description="not read: of 0.2")
    plateau: PlateauState | None = None
    shares: list[float] | None = None
    sampler: dict[str, Any] | None = None


def _sampler(config: CurriculumConfig, source: str) -> ScenarioSampler | None:
    """Returns the sampler of scenarios, if stages draw none. Raises ConfigError."""
    if config.tasks is not None:
        from ns3_env.agents.curriculum.drawn import TaskSampler

        return TaskSampler(config.tasks)
    if config.draw is not None:
        return DrawSampler(config.draw)
    return None if config.sampler is None else make_sampler(config.sampler, source)


class Curriculum:
    """The scenario of each episode, and the progress of training.

    Called with an episode's index it returns the episode's scenario. The draw depends
    on the seed, the index and the stage only. If no stage asks for a return and there is no validation,
    the stage depends only on the index, so an episode does not depend on the number of simulators.
    """

    def __init__(
        self, config: CurriculumConfig, env: EnvConfig, seed: int, source: str, *, by_score: bool = True
    ) -> None:
        """
        Args:
            config: the stages.
            env: configuration with the scenarios' clock.
            seed: seed of the draws.
            source: file named in errors.
            by_score: True: validation scores decide when the next stage starts; False: the number of episodes
                does, and validations only choose the best policy.

        Raises:
            ConfigError: the sampler is unknown.
            ScenarioError: a stage's scenario is wrong.
        """
        self._by_score = by_score
        self.sampler = _sampler(config, source)
        self.config = config
        self.seed = seed
        self.env = env
        self.source = source
        self.scenarios = [self._scenario(stage) for stage in range(len(config.stages))]
        self._largest = [  # draws are checked at their largest and smallest
            self._scenario(stage, {key: ends[side] for key, ends in config.stages[stage].randomise.items()})
            for stage in range(len(config.stages))
            for side in (0, 1)
        ]
        self.entered = [0]  # index of the first episode of each stage so far
        self.next_index = 0
        self.plateau = None if config.validation is None else Plateau(config.validation)
        self.shares: list[float] | None = None  # of the stages, if gaps to a controller decide
        if self.gap_to is not None:
            self.entered *= len(config.stages)
            self.weigh([0.0] * len(config.stages))
        if self.sampler is not None:
            self.drawn(0, np.random.default_rng((seed, 0)), 0)  # faults are reported before anything runs

    @property
    def stage(self) -> int:
        """Number of the latest stage."""
        return len(self.entered) - 1

    @property
    def gap_to(self) -> str | None:
        """Controller whose lead decides how often a stage is drawn; None: stages follow each other."""
        return None if self.config.validation is None else self.config.validation.gap_to

    @property
    def stage_name(self) -> str:
        """Name of the current stage, or of the one that is drawn most often."""
        stage = self.stage if self.shares is None else int(np.argmax(self.shares))
        return self.config.stages[stage].name

    def episodes_to_last(self) -> int | None:
        """Episodes after which the last stage is reached at the latest; None if no count ends a stage."""
        advances = [stage.advance for stage in self.config.stages[self.stage : -1]]
        counts = [advance.after_episodes for advance in advances if advance is not None]
        if len(counts) < len(advances):
            return None
        return max(0, sum(counts) - (self.next_index - self.entered[-1]))

    @property
    def most_flows(self) -> int:
        """Flows under the agent in the largest scenario: slots that an environment needs."""
        if self.sampler is not None:
            return self.sampler.most_flows
        return max(scenario.agent_flow_count for scenario in self._largest)

    def __call__(self, episode: int) -> Scenario:
        """Scenario of the episode with this number."""
        self.next_index = max(self.next_index, episode + 1)
        self._move_on(episode)
        chosen = stage = bisect_right(self.entered, episode) - 1
        random = np.random.default_rng((self.seed, episode))
        if self.shares is not None:
            chosen = int(random.choice(len(self.shares), p=self.shares))
        elif stage > 0 and random.random() < self.config.earlier_share:
            chosen = int(random.integers(stage))
        elif self._by_score and self.plateau is not None and self.plateau.returned_to is not None:
            chosen = self.plateau.returned_to
        return self.drawn(chosen, random, episode)

    def examples(self) -> dict[str, Scenario]:
        """A scenario of each stage or task, or the first that a sampler draws, by name."""
        if self.config.tasks is not None:
            from ns3_env.tasks.networks import task

            return {name: self._clocked(task(name).training(0)) for name in self.config.tasks}
        if self.sampler is not None:
            return {self.stage_name: self.drawn(0, np.random.default_rng((self.seed, 0)), 0)}
        return dict(zip((stage.name for stage in self.config.stages), self.scenarios, strict=True))

    def held_back(self) -> list[tuple[int, Scenario]]:
        """The episodes of a validation, with the numbers of their stages: always the same of each stage."""
        assert self.config.validation is not None
        each = range(self.config.validation.episodes)
        return [
            (
                stage,
                self.drawn(
                    stage,
                    np.random.default_rng((self.seed, _HELD_BACK, stage, number)),
                    number,
                    held_back=True,
                ),
            )
            for stage in range(self.stage + 1)
            for number in each
        ]

    def record(self, mean_return: float) -> None:
        """Records the end of an episode with this mean return of its flows."""
        if self.sampler is not None and hasattr(self.sampler, "record"):
            self.sampler.record(mean_return)
        if self.plateau is not None:
            self.plateau.learned_from_episode()

    def judge(self, scores: Sequence[float]) -> bool:
        """Records a validation's scores, one for each stage so far: which may end the present one.

        Returns whether their mean is the best one since the present stage was entered.
        """
        assert self.plateau is not None
        is_best, leave = self.plateau.judge(scores)
        more = self._by_score and self.stage < len(self.config.stages) - 1
        if leave and more and self.next_index > self.entered[-1]:
            self.entered.append(self.next_index)
        return is_best

    def weigh(self, gaps: Sequence[float]) -> None:
        """Draws each stage in proportion to its gap from now on, and a share of episodes uniformly.

        Genet trains where a rule-based baseline leads the policy by most (Xia et al. 2022).

        Args:
            gaps: for each stage, the logarithm of the policy's slowdown over the controller's; below 0 the
                policy leads.
        """
        uniform = 1 / len(gaps)
        total = sum(max(gap, 0.0) for gap in gaps)
        shares = [max(gap, 0.0) / total if total > 0 else uniform for gap in gaps]
        self.shares = [_UNIFORM * uniform + (1 - _UNIFORM) * share for share in shares]

    def drawn(
        self, stage: int, random: np.random.Generator, episode: int, held_back: bool = False
    ) -> Scenario:
        """The stage's scenario, with its draws for this episode; or a sampler's held-back one."""
        if self.sampler is not None:
            draws = getattr(self.sampler, "held_back", self.sampler) if held_back else self.sampler
            sample = draws(episode, random)
            if isinstance(sample, Scenario):
                return self._clocked(sample)
            which = "sampler" if self.config.draw is None else "draw"
            return make_scenario(self.env, merge(self.config.scenario, sample), f"{self.source}: {which}")
        ranges = self.config.stages[stage].randomise
        if not ranges:
            return self.scenarios[stage]
        return self._scenario(stage, {key: draw(ends, random) for key, ends in sorted(ranges.items())})

    def _clocked(self, scenario: Scenario) -> Scenario:
        """The scenario under the agent's clock."""
        quantum = self.env.decision_quantum_ns
        return scenario.model_copy(update={"clock": self.env.clock, "decision_quantum_ns": quantum})

    def _scenario(self, stage: int, values: Mapping[str, float] | None = None) -> Scenario:
        """The stage's scenario with ``values`` put in. Raises ScenarioError."""
        of = self.config.stages[stage]
        data = merge(self.config.scenario, of.scenario)
        for key, value in (values or {}).items():
            *parents, last = key.split(".")
            change: dict[str, Any] = {last: value}
            for parent in reversed(parents):
                change = {parent: change}
            data = merge(data, change)
        return make_scenario(self.env, data, f"{self.source}: stage {of.name!r}")

    def _move_on(self, index: int) -> None:
        advance = self.config.stages[self.stage].advance
        if advance is None or self.stage == len(self.config.stages) - 1:
            return
        # Simulators ask for their episodes out of order, so the result for an index depends on no other call.
        planned = self.entered[-1] + advance.after_episodes
        if index >= planned:
            self.entered.append(planned)
            self._move_on(index)

    def state(self) -> dict[str, Any]:
        """State in a checkpoint."""
        return {
            "stage": self.stage,
            "entered": list(self.entered),
            "next_index": self.next_index,
            "plateau": None if self.plateau is None else self.plateau.state.model_dump(),
            "shares": self.shares,
            "sampler": None if (state := getattr(self.sampler, "state", None)) is None else state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continues from a ``state()``.

        Raises:
            ConfigError: it is no such state, or belongs to a curriculum with more stages.
        """
        snapshot = validate(state, CurriculumState, "checkpoint: curriculum")
        if len(snapshot.entered) > len(self.config.stages):
            raise ConfigError(f"checkpoint: stage {snapshot.stage} is none of the curriculum's")
        self.entered = list(snapshot.entered)
        self.next_index = snapshot.next_index
        if self.shares is not None and snapshot.shares is not None:
            self.shares = list(snapshot.shares)
        if snapshot.sampler is not None and (restore := getattr(self.sampler, "restore", None)) is not None:
            restore(snapshot.sampler)
        if self.plateau is not None and snapshot.plateau is not None:
            self.plateau.state = snapshot.plateau
