# SPDX-License-Identifier: GPL-2.0-or-later
"""Incast: many flows to one receiver."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import (
    MAX_FLOWS,
    MAX_TIME_NS,
    WHY_FLOWS,
    WHY_TIME,
    FlowCount,
    Nanoseconds,
    excess,
    few,
)
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.endless import FlowSize, bytes_of
from ns3_env.scenario.traffic.kind import Flows, TrafficKind, host_fault


class Incast(TrafficKind):
    """Many flows to one receiver.

    ``receiver`` is by default the last host; ``senders`` all hosts of other access switches (all other hosts
    where there is one access switch only). With more flows than senders each sender has several. Starts lie
    in [start_ns, start_ns + spread_ns], Gaussian (mean in the middle, three standard deviations to each end;
    Zhang 2023, section 5.2) or uniform.
    """

    kind: Literal["incast"] = "incast"
    flows: FlowCount | None = Field(default=None, ge=1, description="number of flows; none: one per sender")
    size_bytes: FlowSize = Field(default=20_000_000, description="of each flow, or endless")
    receiver: int | None = Field(default=None, ge=0)
    senders: Annotated[list[int], few(MAX_FLOWS, WHY_FLOWS)] | None = Field(default=None, min_length=1)
    start_ns: Nanoseconds = Field(default=0, ge=0)
    spread_ns: Nanoseconds = Field(default=0, ge=0)
    distribution: Literal["gaussian", "uniform"] = "gaussian"

    def _ends(self, network: Network) -> tuple[list[int], int]:
        receiver = network.hosts[-1] if self.receiver is None else self.receiver
        if self.senders is not None:
            return self.senders, receiver
        near = network.access_switch(receiver)
        others = [host for host in network.hosts if host != receiver]
        return [host for host in others if network.access_switch(host) != near] or others, receiver

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        if self.receiver is not None and (fault := host_fault(network, "receiver", self.receiver)):
            return fault
        senders, receiver = self._ends(network)
        found = [
            fault for i, host in enumerate(senders) for fault in host_fault(network, f"senders.{i}", host)
        ]
        if (text := excess(self.start_ns + self.spread_ns, MAX_TIME_NS, WHY_TIME)) is not None:
            found.append(f"spread_ns: start_ns + spread_ns {text}")
        if receiver in senders:
            found.append(f"senders.{senders.index(receiver)}: a flow from host {receiver} to itself")
        return found

    def senders_at(self, network: Network) -> Counter[int]:
        """See the base class."""
        senders, receiver = self._ends(network)
        return Counter({receiver: self.flows or len(senders)})

    def expected_flows(self, network: Network) -> float:
        """See the base class."""
        return self.flows or len(self._ends(network)[0])

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list."""
        senders, receiver = self._ends(network)
        n = self.flows or len(senders)
        if self.distribution == "gaussian":
            offsets = np.clip(random.normal(self.spread_ns / 2, self.spread_ns / 6, n), 0, self.spread_ns)
        else:
            offsets = random.uniform(0, self.spread_ns, n)
        flows = Flows()
        for i, offset in enumerate(offsets):
            start = self.start_ns + round(float(offset))
            sender = senders[i % len(senders)]
            flows.add(sender, receiver, bytes_of(self.size_bytes), start, self.controller)
        return flows
