# SPDX-License-Identifier: GPL-2.0-or-later
"""Leaf-spine fabric: leaves with hosts, each linked to every spine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ns3_env.config.bounds import DelayNs, HostCount, LinkRate, SwitchCount
from ns3_env.scenario.topology.kind import GBPS, TopologyKind
from ns3_env.scenario.topology.network import Network


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
        """What the hosts of a leaf can send / what its uplinks carry; 1 is non-blocking."""
        return self.hosts_per_leaf * self.rate_bps / (self.spines * self.uplink_bps)

    def counts(self) -> tuple[int, int, int]:
        """See the base class."""
        hosts = self.leaves * self.hosts_per_leaf
        return hosts, self.leaves + self.spines, hosts + self.leaves * self.spines

    def build(self) -> Network:
        """See the base class."""
        uplink_delay_ns = self.delay_ns if self.uplink_delay_ns is None else self.uplink_delay_ns
        return two_tier(
            self.leaves,
            self.spines,
            self.hosts_per_leaf,
            (self.rate_bps, self.delay_ns),
            (self.uplink_bps, uplink_delay_ns),
        )


def two_tier(
    lower: int, upper: int, hosts_each: int, access: tuple[float, int], fabric: tuple[float, int]
) -> Network:
    """Switches with hosts below ``upper`` others, each linked to all of these.

    Args:
        lower: switches with hosts.
        upper: switches without.
        hosts_each: hosts of each lower switch.
        access: rate (bit/s) and delay (ns) of the hosts' links.
        fabric: rate and delay of the links between switches.
    """
    net = Network()
    hosts = net.add("host", lower * hosts_each)
    low, high = net.add("switch", lower), net.add("switch", upper)
    for host in hosts:
        net.link(host, low[host // hosts_each], *access)
    for below in low:
        for above in high:
            net.link(below, above, *fabric)
    return net
