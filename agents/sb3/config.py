# SPDX-License-Identifier: GPL-2.0-or-later
"""Which parameters has a Stable-Baselines3 algorithm? Its own: they go to its constructor."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agents.registry import AgentConfig


class Sb3Config(AgentConfig):
    """A Stable-Baselines3 algorithm as it is."""

    name: Literal["td3", "sac", "ppo"]
    policy: str = "MlpPolicy"
    options: dict[str, Any] = Field(default_factory=dict, description="of its constructor")
