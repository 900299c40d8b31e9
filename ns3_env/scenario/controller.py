# SPDX-License-Identifier: GPL-2.0-or-later
"""Who decides for flows? Congestion controllers by name."""

from __future__ import annotations

from pydantic import Field

from ns3_env.strict import Strict

#: The controller that asks across the channel.
AGENT = "agent"
#: The controller whose decisions come from a policy's file, inside the simulator.
NETWORK = "network"


class Controller(Strict):
    """A congestion controller by name, and its ns-3 attributes."""

    name: str = Field(min_length=1)
    attributes: dict[str, bool | int | float | str] = Field(default_factory=dict)
