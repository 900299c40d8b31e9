# SPDX-License-Identifier: GPL-2.0-or-later
"""A short flow beside a long one."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import Bytes, Nanoseconds
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.endless import FlowSize, bytes_of
from ns3_env.scenario.traffic.kind import Flows, TrafficKind


class LongShort(TrafficKind):
    """A long flow and a short one (Zhang 2023, section 6.1), from hosts 0 and 1 to the last host."""

    kind: Literal["long_short"] = "long_short"
    long_bytes: FlowSize = Field(default=25_000_000, description="or endless")
    short_bytes: Bytes = Field(default=2_000_000, ge=1)
    short_start_ns: Nanoseconds = Field(default=1_000_000, ge=0)

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        return ["kind: long-short traffic needs at least three hosts"] if len(network.hosts) < 3 else []

    def expected_flows(self, network: Network) -> float:
        """See the base class."""
        return 2

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        flows = Flows()
        flows.add(network.hosts[0], network.hosts[-1], bytes_of(self.long_bytes), 0, self.controller)
        flows.add(network.hosts[1], network.hosts[-1], self.short_bytes, self.short_start_ns, self.controller)
        return flows
