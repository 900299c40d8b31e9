# SPDX-License-Identifier: GPL-2.0-or-later
"""How does a curriculum of one's own choose scenarios? An object that draws one for each episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ns3_env.agents.training.config import Named
from ns3_env.errors import ConfigError
from ns3_env.named_code import named_code
from ns3_env.scenario import Scenario


@runtime_checkable
class ScenarioSampler(Protocol):
    """Draws the scenario of each episode.

    It may also have ``record(mean_return)``, called as episodes end, and ``state()`` with ``restore(state)``,
    whose mapping of numbers, texts and lists goes into checkpoints.

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
    place = f"{source}: sampler"
    try:
        maker = named_code(named.name)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from None
    if not callable(maker):
        raise ConfigError(f"{place}: {named.name} is a {type(maker).__name__}: nothing that can be called")
    try:
        made = maker(**named.settings)
    except Exception as error:  # whatever the user's code does
        raise ConfigError(f"{place}: {named.name}() raised {type(error).__name__}: {error}") from error
    if not (isinstance(made, ScenarioSampler) and callable(made)):
        raise ConfigError(
            f"{place}: {named.name}() gave a {type(made).__name__}, which has no 'most_flows' or cannot be "
            "called with an episode's number and a random generator"
        )
    return made
