# SPDX-License-Identifier: GPL-2.0-or-later
"""Fat-trees of two and three levels."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ns3_env.config.bounds import DelayNs, HostCount, LinkRate, SwitchCount
from ns3_env.scenario.topology.kind import GBPS, TopologyKind
from ns3_env.scenario.topology.leaf_spine import two_tier
from ns3_env.scenario.topology.network import Network


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

    def counts(self) -> tuple[int, int, int]:
        """See the base class."""
        hosts = self.access * self.hosts_per_access
        return hosts, self.access + self.aggregation, hosts + self.access * self.aggregation

    def build(self) -> Network:
        """The network."""
        return two_tier(
            self.access,
            self.aggregation,
            self.hosts_per_access,
            (self.rate_bps, self.delay_ns),
            (self.fabric_bps, self.delay_ns),
        )


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
        """See the base class."""
        tors, aggregation = self.pods * self.tors_per_pod, self.pods * self.aggregation_per_pod
        hosts = tors * self.hosts_per_tor
        links = hosts + tors * self.aggregation_per_pod + aggregation * self.cores
        return hosts, tors + aggregation + self.cores, links

    def build(self) -> Network:
        """The network."""
        net = Network()
        hosts = net.add("host", self.pods * self.tors_per_pod * self.hosts_per_tor)
        tors = net.add("switch", self.pods * self.tors_per_pod)
        aggregation = net.add("switch", self.pods * self.aggregation_per_pod)
        cores = net.add("switch", self.cores)
        for host in hosts:
            net.link(host, tors[host // self.hosts_per_tor], self.rate_bps, self.delay_ns)
        for pod in range(self.pods):
            ours = aggregation[pod * self.aggregation_per_pod : (pod + 1) * self.aggregation_per_pod]
            for tor in tors[pod * self.tors_per_pod : (pod + 1) * self.tors_per_pod]:
                for high in ours:
                    net.link(tor, high, self.fabric_bps, self.delay_ns)
        for low in aggregation:
            for core in cores:
                net.link(low, core, self.fabric_bps, self.delay_ns)
        return net
