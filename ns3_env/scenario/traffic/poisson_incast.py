# SPDX-License-Identifier: GPL-2.0-or-later
"""Incasts at random times, each to a random receiver, at a load of the network."""

from __future__ import annotations

from collections import Counter
from typing import Literal

import numpy as np
from pydantic import Field, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import MAX_COUNT, Bytes, FlowCount, Nanoseconds
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.kind import Flows, TrafficKind


class PoissonIncast(TrafficKind):
    """Incasts at random times: ``fan_in`` random hosts send to a random host (docs/sources/traffic.md).

    How often is told by ``load``, the incasts' share of what all hosts' links can send, or by
    ``events_per_s``, over the whole network. There is at least one incast.
    """

    kind: Literal["poisson_incast"] = "poisson_incast"
    fan_in: FlowCount = Field(default=60, ge=1, description="senders of an incast, each with one flow")
    size_bytes: Bytes = Field(default=500_000, ge=1, description="of each flow")
    load: float | None = Field(default=None, gt=0, le=1, description="of the hosts' links; or events_per_s")
    events_per_s: float | None = Field(
        default=None, gt=0, le=MAX_COUNT, description="incasts of the whole network; or load"
    )
    duration_ns: Nanoseconds = Field(default=10_000_000, gt=0, description="incasts start before")

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if (self.load is None) == (self.events_per_s is None):
            there = "neither" if self.load is None else "both"
            raise ValueError(
                f"give one of load and events_per_s; there is {there} (HPCC's evaluation: load: 0.02)"
            )
        return self

    def _gap_ns(self, network: Network) -> float:
        """Mean time between two incasts."""
        if self.events_per_s is not None:
            return 1e9 / self.events_per_s
        assert self.load is not None
        capacity_bps = sum(network.access[host].rate_bps for host in network.hosts)
        return 8e9 * self.fan_in * self.size_bytes / (self.load * capacity_bps)

    def faults(self, network: Network) -> list[str]:
        """See the base class."""
        free = len(network.hosts) - 1
        if self.fan_in > free:
            return [f"fan_in: {self.fan_in} senders, but there are only {free} hosts beside the receiver"]
        return []

    def senders_at(self, network: Network) -> Counter[int]:
        """See the base class: of one incast, whichever its receiver."""
        return Counter(dict.fromkeys(network.hosts, self.fan_in))

    def expected_flows(self, network: Network) -> float:
        """See the base class."""
        return max(1.0, self.duration_ns / self._gap_ns(network)) * self.fan_in

    def arrivals_end_ns(self) -> int | None:
        """See the base class."""
        return self.duration_ns

    def flow_count_is_drawn(self) -> bool:
        """See the base class."""
        return True

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list, by start time."""
        gap_ns = self._gap_ns(network)
        times = []
        at = random.exponential(gap_ns)
        while at < self.duration_ns:
            times.append(int(at))
            at += random.exponential(gap_ns)
        flows = Flows()
        for start in times or [0]:
            receiver, *senders = random.choice(network.hosts, self.fan_in + 1, replace=False).tolist()
            for sender in senders:
                flows.add(sender, receiver, self.size_bytes, start, self.controller)
        return flows
