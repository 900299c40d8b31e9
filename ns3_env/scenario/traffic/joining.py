# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows that join a link one after the other."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import MAX_FLOWS, MAX_TIME_NS, WHY_FLOWS, WHY_TIME, Nanoseconds, excess, few
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.endless import FlowSize, bytes_of
from ns3_env.scenario.traffic.kind import Flows, TrafficKind


class Joining(TrafficKind):
    """Flows that join a link one after the other (Zhang 2023, Fig. 6.2; Zheng 2024, Exp. 2).

    Flow i starts at i x interval_ns from host i to the last host.
    """

    kind: Literal["joining"] = "joining"
    sizes_bytes: Annotated[list[FlowSize], few(MAX_FLOWS, WHY_FLOWS)] = Field(
        default=[1_000_000_000] * 4, min_length=1, description="each may be endless"
    )
    interval_ns: Nanoseconds = Field(default=35_000_000, gt=0)

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        free = len(network.hosts) - 1
        if len(self.sizes_bytes) > free:
            return [f"sizes_bytes: {len(self.sizes_bytes)} flows, but only {free} hosts to send them"]
        if (
            text := excess((len(self.sizes_bytes) - 1) * self.interval_ns, MAX_TIME_NS, WHY_TIME)
        ) is not None:
            return [f"interval_ns: the last flow's start {text}"]
        return []

    def expected_flows(self, network: Network) -> float:
        """See the base class."""
        return len(self.sizes_bytes)

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        flows = Flows()
        for i, size in enumerate(self.sizes_bytes):
            start = i * self.interval_ns
            flows.add(network.hosts[i], network.hosts[-1], bytes_of(size), start, self.controller)
        return flows
