# SPDX-License-Identifier: GPL-2.0-or-later
"""Training callbacks of the user's own, made by name (a logger, a monitor)."""

from __future__ import annotations

from collections.abc import Sequence

from stable_baselines3.common.callbacks import BaseCallback

from ns3_env.agents.configuration.config import Named
from ns3_env.config.imports import made_by
from ns3_env.errors import ConfigError


def named_callbacks(named: Sequence[Named]) -> list[BaseCallback]:
    """The callbacks, each made with its settings. Raises ConfigError, naming the key."""
    made: list[BaseCallback] = []
    for i, one in enumerate(named):
        try:
            made.append(made_by(one.name, one.settings, _is_callback, "Stable-Baselines3's BaseCallback"))
        except ConfigError as error:  # noqa: PERF203 (a run has a few)
            raise ConfigError(f"train.callbacks.{i}: {error}") from error
    return made


def _is_callback(made: object) -> bool:
    return isinstance(made, BaseCallback)
