# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario samplers of the user's own: an object that draws a scenario for each episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ns3_env.agents.configuration.config import Named
from ns3_env.config.imports import made_by
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
            random: of the run's seed and the episode: what is drawn from it alone is the same in every run.
        """
        ...


def make_sampler(named: Named, source: str) -> ScenarioSampler:
    """The sampler that a curriculum names. Raises ConfigError, naming ``source`` and the key."""
    wanted = "a ScenarioSampler, with 'most_flows' and a call of an episode's number and a generator"
    try:
        made: ScenarioSampler = made_by(named.name, named.settings, ScenarioSampler, wanted)
    except ConfigError as error:
        raise ConfigError(f"{source}: sampler: {error}") from error
    return made
