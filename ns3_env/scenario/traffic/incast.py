# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows to one receiver: incasts, flows that join one after the other, a short one next to a long one."""

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
    Bytes,
    FlowCount,
    Nanoseconds,
    excess,
    few,
)
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.kind import Flows, TrafficKind, host_fault
from ns3_env.scenario.traffic.sizes import FlowSize, bytes_of


class Incast(TrafficKind):
    """Many flows to one receiver.

    ``receiver`` is by default the last host; ``senders`` all hosts of other access switches (all other hosts
    if there is only one access switch). With more flows than senders each sender has several. Starts lie
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
        if self.receiver is not None and (fault := host_fault(network, "receiver", self.receiver)):
            return fault
        senders, receiver = self._ends(network)
        texts = [
            fault for i, host in enumerate(senders) for fault in host_fault(network, f"senders.{i}", host)
        ]
        if (text := excess(self.start_ns + self.spread_ns, MAX_TIME_NS, WHY_TIME)) is not None:
            texts.append(f"spread_ns: start_ns + spread_ns {text}")
        if receiver in senders:
            texts.append(f"senders.{senders.index(receiver)}: a flow from host {receiver} to itself")
        return texts

    def senders_at(self, network: Network) -> Counter[int]:
        senders, receiver = self._ends(network)
        return Counter({receiver: self.flows or len(senders)})

    def expected_flows(self, network: Network) -> float:
        return self.flows or len(self._ends(network)[0])

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
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
        free = len(network.hosts) - 1
        if len(self.sizes_bytes) > free:
            return [f"sizes_bytes: {len(self.sizes_bytes)} flows, but only {free} hosts to send them"]
        if (
            text := excess((len(self.sizes_bytes) - 1) * self.interval_ns, MAX_TIME_NS, WHY_TIME)
        ) is not None:
            return [f"interval_ns: the last flow's start {text}"]
        return []

    def expected_flows(self, network: Network) -> float:
        return len(self.sizes_bytes)

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        flows = Flows()
        for i, size in enumerate(self.sizes_bytes):
            start = i * self.interval_ns
            flows.add(network.hosts[i], network.hosts[-1], bytes_of(size), start, self.controller)
        return flows


class LongShort(TrafficKind):
    """A long flow and a short one (Zhang 2023, section 6.1), from hosts 0 and 1 to the last host."""

    kind: Literal["long_short"] = "long_short"
    long_bytes: FlowSize = Field(default=25_000_000, description="or endless")
    short_bytes: Bytes = Field(default=2_000_000, ge=1)
    short_start_ns: Nanoseconds = Field(default=1_000_000, ge=0)

    def faults(self, network: Network) -> list[str]:
        return ["kind: long-short traffic needs at least three hosts"] if len(network.hosts) < 3 else []

    def expected_flows(self, network: Network) -> float:
        return 2

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        flows = Flows()
        flows.add(network.hosts[0], network.hosts[-1], bytes_of(self.long_bytes), 0, self.controller)
        flows.add(network.hosts[1], network.hosts[-1], self.short_bytes, self.short_start_ns, self.controller)
        return flows
