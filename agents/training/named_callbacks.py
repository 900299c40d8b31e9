# SPDX-License-Identifier: GPL-2.0-or-later
"""Who else looks on while an agent learns? Callbacks of one's own, by name: a logger, a monitor."""

from __future__ import annotations

from collections.abc import Sequence

from stable_baselines3.common.callbacks import BaseCallback

from ns3_env.agents.training.config import Named
from ns3_env.errors import ConfigError
from ns3_env.named_code import named_code


def named_callbacks(named: Sequence[Named]) -> list[BaseCallback]:
    """The callbacks, each made with its settings. Raises ConfigError, naming the key."""
    made = []
    for i, one in enumerate(named):
        place = f"train.callbacks.{i}"
        try:
            maker = named_code(one.name)
        except ConfigError as error:
            raise ConfigError(f"{place}: {error}") from None
        if not callable(maker):
            raise ConfigError(f"{place}: {one.name} is a {type(maker).__name__}: nothing that can be called")
        try:
            callback = maker(**one.settings)
        except Exception as error:  # whatever the user's code does
            raise ConfigError(f"{place}: {one.name}() raised {type(error).__name__}: {error}") from error
        if not isinstance(callback, BaseCallback):
            raise ConfigError(
                f"{place}: {one.name}() gave a {type(callback).__name__}, which is none of "
                "Stable-Baselines3's BaseCallback"
            )
        made.append(callback)
    return made
