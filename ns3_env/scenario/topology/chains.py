# SPDX-License-Identifier: GPL-2.0-or-later
"""Chains of switches: dumbbell and parking lot."""

from __future__ import annotations

import itertools
from typing import Literal

from pydantic import Field

from ns3_env.config.bounds import DelayNs, HostCount, LinkRate, SwitchCount
from ns3_env.scenario.topology.kind import GBPS, TopologyKind
from ns3_env.scenario.topology.network import Network


class Dumbbell(TopologyKind):
    """Senders - switch A - switch B - receivers.

    Hosts 0 ... n - 1 send, the next ones receive, then come the switches A and B
    (docs/sources/published-simulator.md, "Results to meet").
    """

    kind: Literal["dumbbell"] = "dumbbell"
    senders: HostCount = Field(default=4, ge=1)
    receivers: HostCount = Field(default=1, ge=1)
    rate_bps: LinkRate = Field(default=100 * GBPS, description="of each host's link")
    bottleneck_bps: LinkRate | None = Field(default=None, description="between the switches; none: rate_bps")
    delay_ns: DelayNs = Field(default=1000, gt=0, description="of each link")

    def counts(self) -> tuple[int, int, int]:
        """See the base class."""
        return self.senders + self.receivers, 2, self.senders + self.receivers + 1

    def build(self) -> Network:
        """The network."""
        net = Network()
        senders = net.add("host", self.senders)
        receivers = net.add("host", self.receivers)
        a, b = net.add("switch", 2)
        for host in senders:
            net.link(host, a, self.rate_bps, self.delay_ns)
        net.link(a, b, self.bottleneck_bps or self.rate_bps, self.delay_ns)
        for host in receivers:
            net.link(b, host, self.rate_bps, self.delay_ns)
        return net


class ParkingLot(TopologyKind):
    """A chain of switches, each with ``hosts_per_switch`` hosts; host 0 sits at the first switch too.

    Hosts come first, switch by switch (the first switch has one more: host 0), then the switches.
    """

    kind: Literal["parking_lot"] = "parking_lot"
    switches: SwitchCount = Field(default=4, ge=2)
    hosts_per_switch: HostCount = Field(default=1, ge=1)
    rate_bps: LinkRate = Field(default=100 * GBPS)
    delay_ns: DelayNs = Field(default=1000, gt=0)

    def counts(self) -> tuple[int, int, int]:
        """See the base class."""
        hosts = 1 + self.switches * self.hosts_per_switch
        return hosts, self.switches, hosts + self.switches - 1

    def build(self) -> Network:
        """The network."""
        net = Network()
        hosts = net.add("host", 1 + self.switches * self.hosts_per_switch)
        chain = net.add("switch", self.switches)
        for host in hosts:
            at = max(host - 1, 0) // self.hosts_per_switch
            net.link(host, chain[at], self.rate_bps, self.delay_ns)
        for left, right in itertools.pairwise(chain):
            net.link(left, right, self.rate_bps, self.delay_ns)
        return net
