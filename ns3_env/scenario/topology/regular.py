# SPDX-License-Identifier: GPL-2.0-or-later
"""Regular topologies: chains of switches, and fabrics of two and three tiers.

Hosts have the first ids, switch by switch, then come the switches, the lowest tier first.
"""

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
        hosts = self.senders + self.receivers
        return hosts, 2, hosts + 1

    def build(self) -> Network:
        net = Network()
        senders, receivers = net.add("host", self.senders), net.add("host", self.receivers)
        a, b = net.add("switch", 2)
        net.mesh(senders, [a], self.rate_bps, self.delay_ns)
        net.mesh([a], [b], self.bottleneck_bps or self.rate_bps, self.delay_ns)
        net.mesh([b], receivers, self.rate_bps, self.delay_ns)
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
        hosts = 1 + self.switches * self.hosts_per_switch
        return hosts, self.switches, hosts + self.switches - 1

    def build(self) -> Network:
        net = Network()
        first, *hosts = net.add("host", 1 + self.switches * self.hosts_per_switch)
        chain = net.add("switch", self.switches)
        net.mesh([first], chain[:1], self.rate_bps, self.delay_ns)
        net.attach(hosts, chain, self.rate_bps, self.delay_ns)
        for left, right in itertools.pairwise(chain):
            net.mesh([left], [right], self.rate_bps, self.delay_ns)
        return net


class LeafSpine(TopologyKind):
    """Leaf switches with hosts, each linked to every spine; flows spread over the spines by ECMP.

    Hosts come first, leaf by leaf, then the leaves, then the spines.
    """

    kind: Literal["leaf_spine"] = "leaf_spine"
    leaves: SwitchCount = Field(default=4, ge=1)
    spines: SwitchCount = Field(default=4, ge=1)
    hosts_per_leaf: HostCount = Field(default=16, ge=1)
    rate_bps: LinkRate = Field(default=100 * GBPS, description="of each host's link")
    uplink_bps: LinkRate = Field(default=400 * GBPS, description="of each link between a leaf and a spine")
    delay_ns: DelayNs = Field(default=1000, gt=0, description="of each host's link")
    uplink_delay_ns: DelayNs | None = Field(
        default=None, gt=0, description="of each link between a leaf and a spine; none: delay_ns"
    )

    @property
    def oversubscription(self) -> float:
        """Rate of a leaf's hosts over that of its uplinks; 1 is non-blocking."""
        return self.hosts_per_leaf * self.rate_bps / (self.spines * self.uplink_bps)

    def counts(self) -> tuple[int, int, int]:
        hosts = self.leaves * self.hosts_per_leaf
        return hosts, self.leaves + self.spines, hosts + self.leaves * self.spines

    def build(self) -> Network:
        net = Network()
        hosts = net.add("host", self.leaves * self.hosts_per_leaf)
        leaves, spines = net.add("switch", self.leaves), net.add("switch", self.spines)
        net.attach(hosts, leaves, self.rate_bps, self.delay_ns)
        uplink_delay_ns = self.delay_ns if self.uplink_delay_ns is None else self.uplink_delay_ns
        net.mesh(leaves, spines, self.uplink_bps, uplink_delay_ns)
        return net


class FatTree2(TopologyKind):
    """Access switches with hosts, each linked to every aggregation switch.

    The defaults are Zhang 2023, Fig. 5.2 (4 + 4 switches, 16 hosts each, every link 100 Gb/s). Hosts come
    first, access switch by access switch, then the access switches, then the aggregation switches.
    """

    kind: Literal["fat_tree_2"] = "fat_tree_2"
    access: SwitchCount = Field(default=4, ge=1, description="access switches")
    aggregation: SwitchCount = Field(default=4, ge=1, description="aggregation switches")
    hosts_per_access: HostCount = Field(default=16, ge=1)
    rate_bps: LinkRate = Field(default=100 * GBPS, description="of each host's link")
    fabric_bps: LinkRate = Field(default=100 * GBPS, description="between switches")
    delay_ns: DelayNs = Field(default=1000, gt=0)

    def _as_leaf_spine(self) -> LeafSpine:
        return LeafSpine.model_construct(
            leaves=self.access,
            spines=self.aggregation,
            hosts_per_leaf=self.hosts_per_access,
            rate_bps=self.rate_bps,
            uplink_bps=self.fabric_bps,
            delay_ns=self.delay_ns,
        )

    def counts(self) -> tuple[int, int, int]:
        return self._as_leaf_spine().counts()

    def build(self) -> Network:
        return self._as_leaf_spine().build()


class FatTree3(TopologyKind):
    """Pods of top-of-rack and aggregation switches in full mesh; each aggregation switch to every core.

    The defaults are the 16 hosts of Zheng 2024, Exp. 3, numbered as the published simulator does
    (docs/sources/published-simulator.md): hosts 0-15, four per ToR 16-19, ToR 16, 17 with
    aggregation 20, 21; ToR 18, 19 with 22, 23; cores 24, 25.
    """

    kind: Literal["fat_tree_3"] = "fat_tree_3"
    pods: SwitchCount = Field(default=2, ge=1)
    tors_per_pod: SwitchCount = Field(default=2, ge=1)
    aggregation_per_pod: SwitchCount = Field(default=2, ge=1)
    cores: SwitchCount = Field(default=2, ge=1)
    hosts_per_tor: HostCount = Field(default=4, ge=1)
    rate_bps: LinkRate = Field(default=100 * GBPS, description="of each host's link")
    fabric_bps: LinkRate = Field(default=400 * GBPS, description="between switches")
    delay_ns: DelayNs = Field(default=1000, gt=0)

    def counts(self) -> tuple[int, int, int]:
        tors, aggregation = self.pods * self.tors_per_pod, self.pods * self.aggregation_per_pod
        hosts = tors * self.hosts_per_tor
        links = hosts + tors * self.aggregation_per_pod + aggregation * self.cores
        return hosts, tors + aggregation + self.cores, links

    def build(self) -> Network:
        net = Network()
        hosts = net.add("host", self.pods * self.tors_per_pod * self.hosts_per_tor)
        tors = net.add("switch", self.pods * self.tors_per_pod)
        aggregation = net.add("switch", self.pods * self.aggregation_per_pod)
        cores = net.add("switch", self.cores)
        net.attach(hosts, tors, self.rate_bps, self.delay_ns)
        for pod in range(self.pods):
            low, high = (
                tier[pod * each : (pod + 1) * each]
                for tier, each in ((tors, self.tors_per_pod), (aggregation, self.aggregation_per_pod))
            )
            net.mesh(low, high, self.fabric_bps, self.delay_ns)
        net.mesh(aggregation, cores, self.fabric_bps, self.delay_ns)
        return net
