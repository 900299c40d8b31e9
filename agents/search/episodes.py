# SPDX-License-Identifier: GPL-2.0-or-later
"""Episodes of a search: the curriculum's stages, with seeds of training or of validation."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.agents.curriculum.curriculum import Curriculum
from ns3_env.agents.search.config import SearchConfig
from ns3_env.envs.sb3_vec_env import episode_seed
from ns3_env.scenario import Scenario


@dataclass(frozen=True)
class Episode:
    """A stage's scenario with one seed."""

    stage: str
    scenario: Scenario

    @property
    def key(self) -> tuple[str, int]:
        """What tells its flows from others of the same curriculum."""
        return self.stage, self.scenario.seed


class Episodes:
    """Those of each generation, and those of validation.

    Without validation every trial plays the same ones. With it, seeds are drawn anew for each generation, all
    of them even; those of validation are odd, so that none is ever trained on.
    """

    def __init__(self, curriculum: Curriculum, search: SearchConfig, seed: int) -> None:
        """
        Args:
            curriculum: all its stages count alike.
            search: how many of each.
            seed: of the draws.
        """
        names = [stage.name for stage in curriculum.config.stages]
        self._stages = list(zip(names, curriculum.scenarios, strict=True))
        self._search = search
        self._seed = seed

    def of_generation(self, generation: int) -> list[Episode]:
        """What the trials of a generation play; the start is generation 0."""
        count = self._search.episodes
        if self._search.validation is None:
            return self._drawn(count, 0, 1, 0)
        return self._drawn(count, generation * count * len(self._stages), 2, 0)

    def of_validation(self) -> list[Episode]:
        """What is played for a validation, the same each time; nothing where there is none."""
        validation = self._search.validation
        return [] if validation is None else self._drawn(validation.episodes, 0, 2, 1)

    def _drawn(self, count: int, first: int, factor: int, offset: int) -> list[Episode]:
        return [
            Episode(name, scenario.with_seed(factor * episode_seed(self._seed, first + number) + offset))
            for number, (name, scenario) in enumerate(
                (name, scenario) for name, scenario in self._stages for _ in range(count)
            )
        ]
