# SPDX-License-Identifier: GPL-2.0-or-later
"""Which hosts and switches are there, and how are they linked? Dumbbell, parking lot, fat-trees."""

from __future__ import annotations

import itertools
from collections import deque
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import Annotated, Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from ns3_env.bounds import (
    MAX_HOSTS,
    MAX_LINKS,
    MAX_SWITCHES,
    WHY_HOSTS,
    DelayNs,
    HostCount,
    LinkRate,
    SwitchCount,
    few,
)
from ns3_env.strict import Strict

GBPS = 1e9

#: Switches of which a packet's telemetry has room (docs/sources/mpcc.md).
MAX_TELEMETRY_HOPS = 5


@dataclass(frozen=True)
class Link:
    """A full-duplex link between nodes ``a`` and ``b``."""

    a: int
    b: int
    rate_bps: float
    delay_ns: int


@dataclass
class Network:
    """Nodes ("host" or "switch"; the position is the node's id) and links."""

    nodes: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    def add(self, kind: str, count: int) -> list[int]:
        """Appends nodes; returns their ids."""
        begin = len(self.nodes)
        self.nodes += [kind] * count
        return list(range(begin, begin + count))

    def link(self, a: int, b: int, rate_bps: float, delay_ns: int) -> None:
        """Appends a link."""
        self.links.append(Link(a, b, rate_bps, delay_ns))

    @cached_property
    def hosts(self) -> list[int]:
        """Ids of the hosts, ascending."""
        return [i for i, kind in enumerate(self.nodes) if kind == "host"]

    @cached_property
    def access(self) -> dict[int, Link]:
        """The link of each host."""
        hosts = set(self.hosts)
        found: dict[int, Link] = {}
        for link in self.links:
            for end in (link.a, link.b):
                if end in hosts:
                    found.setdefault(end, link)
        return found

    def access_switch(self, host: int) -> int:
        """The node at the other end of a host's link."""
        link = self.access[host]
        return link.b if link.a == host else link.a

    def faults(self) -> list[str]:
        """What is wrong with the graph; [] where nothing is."""
        n = len(self.nodes)
        faults = []
        degree = [0] * n
        neighbours: list[list[int]] = [[] for _ in range(n)]
        joined: dict[frozenset[int], int] = {}
        for i, link in enumerate(self.links):
            wrong = [end for end in (link.a, link.b) if not 0 <= end < n]
            if wrong:
                faults.append(f"links.{i}: there is no node {wrong[0]}; nodes are 0 to {n - 1}")
                continue
            if link.a == link.b:
                faults.append(f"links.{i}: a link from node {link.a} to itself")
                continue
            first = joined.setdefault(frozenset((link.a, link.b)), i)
            if first != i:
                faults.append(f"links.{i}: nodes {link.a} and {link.b} are joined already, by links.{first}")
                continue
            for end, other in ((link.a, link.b), (link.b, link.a)):
                degree[end] += 1
                neighbours[end].append(other)
        if faults:
            return faults
        if len(self.hosts) < 2:
            return ["nodes: a network needs at least two hosts"]
        faults += [
            f"links: host {host} has {degree[host]} links; a host has exactly one"
            for host in self.hosts
            if degree[host] != 1
        ]
        seen = {self.hosts[0]}
        todo = deque(seen)
        while todo:
            for other in neighbours[todo.popleft()]:
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        lost = [host for host in self.hosts if host not in seen]
        if lost and not faults:
            faults.append(f"links: there is no path from host {self.hosts[0]} to host {lost[0]}")
        return faults or self._hop_faults(neighbours)

    def _hop_faults(self, neighbours: list[list[int]]) -> list[str]:
        """Two hosts further apart than telemetry reaches: their switches beyond would not be seen."""
        edge: dict[int, int] = {}  # a host of each access switch
        for host in self.hosts:
            if self.nodes[at := self.access_switch(host)] == "switch":
                edge.setdefault(at, host)
        far = self._far_from_others(list(edge), neighbours)
        if far is None:
            return []
        hops = {far: 1}
        todo = deque([far])
        while todo:
            node = todo.popleft()
            for other in neighbours[node]:
                if other not in hops and self.nodes[other] == "switch":
                    hops[other] = hops[node] + 1
                    todo.append(other)
        farthest = max(edge, key=lambda node: hops[node])
        return [
            f"links: the path from host {edge[far]} to host {edge[farthest]} has {hops[farthest]} switches; "
            f"telemetry has room for {MAX_TELEMETRY_HOPS}"
        ]

    def _far_from_others(self, edge: list[int], neighbours: list[list[int]]) -> int | None:
        """The first access switch that telemetry does not reach all others from.

        A switch's set of access switches in reach, a bit each, grows with each hop by its neighbours' sets.
        Switches with the same neighbours, as a fat-tree's, grow by the same: that is worked out once.
        """
        reach = [0] * len(self.nodes)
        for i, switch in enumerate(edge):
            reach[switch] = 1 << i
        everywhere = (1 << len(edge)) - 1
        alike: dict[tuple[int, ...], list[int]] = {}
        for switch, others in enumerate(neighbours):
            if self.nodes[switch] == "switch":
                between = tuple(sorted(other for other in others if self.nodes[other] == "switch"))
                alike.setdefault(between, []).append(switch)
        for _ in range(MAX_TELEMETRY_HOPS - 1):
            if all(reach[switch] == everywhere for switch in edge):
                break
            gained = {between: reduce(or_, map(reach.__getitem__, between), 0) for between in alike}
            for between, switches in alike.items():
                for switch in switches:
                    reach[switch] |= gained[between]
        return next((switch for switch in edge if reach[switch] != everywhere), None)


class TopologyKind(Strict):
    """What every topology has: it can be built."""

    def counts(self) -> tuple[int, int, int]:
        """Hosts, switches and links, told before anything is built."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _not_too_large(self) -> Self:
        for what, count, limit in zip(
            ("hosts", "switches", "links"), self.counts(), (MAX_HOSTS, MAX_SWITCHES, MAX_LINKS), strict=True
        ):
            if count > limit:
                raise ValueError(f"{count} {what}; there may be at most {limit}: {WHY_HOSTS}")
        return self


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
        net = Network()
        hosts = net.add("host", self.access * self.hosts_per_access)
        access = net.add("switch", self.access)
        aggregation = net.add("switch", self.aggregation)
        for host in hosts:
            net.link(host, access[host // self.hosts_per_access], self.rate_bps, self.delay_ns)
        for low in access:
            for high in aggregation:
                net.link(low, high, self.fabric_bps, self.delay_ns)
        return net


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


class GraphLink(Strict):
    """One link of a graph."""

    a: int = Field(ge=0)
    b: int = Field(ge=0)
    rate_bps: LinkRate
    delay_ns: DelayNs = Field(gt=0)


class Graph(TopologyKind):
    """Any network: a list of nodes ("host" or "switch"; the position is the id) and a list of links."""

    kind: Literal["graph"] = "graph"
    nodes: Annotated[list[Literal["host", "switch"]], few(MAX_HOSTS + MAX_SWITCHES, WHY_HOSTS)]
    links: Annotated[list[GraphLink], few(MAX_LINKS, WHY_HOSTS)]

    def counts(self) -> tuple[int, int, int]:
        """See the base class."""
        hosts = self.nodes.count("host")
        return hosts, len(self.nodes) - hosts, len(self.links)

    def build(self) -> Network:
        """The network."""
        return Network(list(self.nodes), [Link(x.a, x.b, x.rate_bps, x.delay_ns) for x in self.links])


Topology = Annotated[Dumbbell | ParkingLot | FatTree2 | FatTree3 | Graph, Field(discriminator="kind")]
