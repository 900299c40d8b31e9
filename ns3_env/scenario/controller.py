# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion controllers of flows, by name."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from ns3_env.config.model import Strict

#: The controller that asks across the channel.
AGENT = "agent"
#: The controller whose decisions come from a policy's file, inside the simulator.
NETWORK = "network"


class Controller(Strict):
    """A congestion controller by name, and its ns-3 attributes; a name alone stands for {name: NAME}."""

    name: str = Field(min_length=1)
    attributes: dict[str, bool | int | float | str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data
