# SPDX-License-Identifier: GPL-2.0-or-later
"""Configuration of a learner of thresholds (configs/thresholds.yaml)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ns3_env.config.bounds import Count, LearnerSeed, Processes, Setting
from ns3_env.config.model import Strict, validate
from ns3_env.config.yaml import read_mapping


class ThresholdsConfig(Strict):
    """A run of ``kind: thresholds``: one policy for all ports of a task, as Stable-Baselines3 trains it."""

    kind: Literal["thresholds"]
    name: str = Field(default="thresholds", pattern=r"^[A-Za-z0-9_.-]+$")
    seed: LearnerSeed = Field(default=1, ge=0)
    task: str = "Thresholds"
    algorithm: Literal["ppo", "dqn"] = "ppo"
    history: Setting = Field(default=3, ge=1, description="intervals that the policy observes")
    reward: dict[str, float] = Field(default={}, description="settings of the reward 'acc'")
    simulators: Processes = Field(default=1, ge=1)
    decisions: Count = Field(default=1_000_000, ge=1, description="of all ports together")
    options: dict[str, Any] = Field(default={}, description="of the algorithm's constructor")


def read_config(path: Path) -> ThresholdsConfig:
    """Reads a configuration. Raises ConfigError, naming the key at fault."""
    return validate(read_mapping(path), ThresholdsConfig, str(path))
