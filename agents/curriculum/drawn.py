# SPDX-License-Identifier: GPL-2.0-or-later
"""Curriculum that draws networks and traffic from families, with families held back for validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from ns3_env.agents.curriculum.families import FAMILIES, Keys, Range, Ranges, ascending
from ns3_env.config.bounds import Count, DelayNs, LinkRate
from ns3_env.config.model import Strict, nearest
from ns3_env.scenario import Scenario
from ns3_env.tasks.networks import task

_Rates = Annotated[tuple[LinkRate, LinkRate], AfterValidator(ascending)]
_Delays = Annotated[tuple[DelayNs, DelayNs], AfterValidator(ascending)]
#: Maximum number of flows of an episode over the mean number.
_SPREAD = 3


class DrawConfig(Strict):
    """The section ``draw`` of a curriculum: ranges [least, largest], the logarithms uniform, and families."""

    families: list[str] = Field(min_length=1, description="that episodes are drawn from, in turn")
    held_back: list[str] = Field(default=[], description="that validations are drawn from; none: the same")
    rates_bps: _Rates = Field(default=(25e9, 400e9), description="of a host's link")
    delays_ns: _Delays = Field(default=(300, 5000), description="of a link")
    oversubscription: Range = Field(
        default=(0.5, 3.0), description="of a leaf: rate of its hosts over that of its uplinks"
    )
    loads: Range = Field(
        default=(0.1, 0.8), description="of hosts' links, less where uplinks cannot carry it"
    )
    fan_in: Range = Field(default=(4, 31), description="flows of an incast that comes again")
    incast_flows: Range = Field(default=(2, 200), description="flows of an incast by itself")
    flows: Count = Field(default=400, ge=10, description="of an episode of arrivals, on average")
    packets: Count = Field(default=40_000, ge=1000, description="of an episode, on average, at most")

    @model_validator(mode="after")
    def _check_families(self) -> DrawConfig:
        for key in ("families", "held_back"):
            for name in getattr(self, key):
                if name not in FAMILIES:
                    families = ", ".join(FAMILIES)
                    raise ValueError(
                        f"{key}: there is no family {name!r}{nearest(name, list(FAMILIES))} of {families}"
                    )
        if both := sorted(set(self.families) & set(self.held_back)):
            raise ValueError(f"held_back: {both[0]} is among the families that are learned from, too")
        if self.loads[1] > 1:
            raise ValueError(f"loads: at most 1, not {self.loads[1]:g}")
        return self


class DrawSampler:
    """Draws a family's network and traffic; the family is that of the episode's number, in turn.

    Attributes:
        most_flows: slots for the flows of an episode; they are fewer on average.
    """

    def __init__(self, config: DrawConfig) -> None:
        self._families, self._held_back = config.families, config.held_back or config.families
        ranges = {key: getattr(config, key) for key in Ranges.__dataclass_fields__}
        self._ranges = Ranges(**ranges)
        self.most_flows = max(_SPREAD * config.flows, int(config.incast_flows[1]) + 1)

    def __call__(self, episode: int, random: np.random.Generator) -> Keys:
        """A scenario's keys; see :class:`ns3_env.agents.curriculum.curriculum.ScenarioSampler`."""
        return FAMILIES[self._families[episode % len(self._families)]](self._ranges, random)

    def held_back(self, episode: int, random: np.random.Generator) -> Keys:
        """The same of the families that are held back."""
        return FAMILIES[self._held_back[episode % len(self._held_back)]](self._ranges, random)


class TaskSampler:
    """Training scenarios of several tasks, in turn.

    Attributes:
        most_flows: flows under the agent in the largest scenario.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """Raises ValueError for a task that there is not."""
        self._tasks = [task(name) for name in names]
        self.most_flows = max(spec.slots for spec in self._tasks)

    def __call__(self, episode: int, random: np.random.Generator) -> Scenario:
        """A training scenario; see :class:`ns3_env.agents.curriculum.curriculum.ScenarioSampler`."""
        chosen = self._tasks[episode % len(self._tasks)]
        return chosen.training(int(random.integers(2**31)))
