# SPDX-License-Identifier: GPL-2.0-or-later
"""Who else looks on while an agent learns? Callbacks of one's own, by name: a logger, a monitor."""

from __future__ import annotations

from collections.abc import Sequence

from stable_baselines3.common.callbacks import BaseCallback

from ns3_env.agents.training.config import Named
from ns3_env.errors import ConfigError
from ns3_env.named_code import made_by


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
