# SPDX-License-Identifier: GPL-2.0-or-later
"""Network of hosts, switches and links, and the faults of its graph."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_

from ns3_env.errors import ScenarioError

#: Switches of the longest path that the simulators support.
MAX_PATH_SWITCHES = 32


@dataclass(frozen=True)
class Link:
    """A full-duplex link between nodes ``a`` and ``b``."""

    a: int
    b: int
    rate_bps: float
    delay_ns: int


@dataclass
class Network:
    """Nodes ("host", "card" or "switch"; the position is the node's id) and links.

    A host's first link starts at the host's own node; each further one at its own node, a "card".
    ``cards`` has the nodes of such a host's links, the host's own first. Hosts do not forward: a card carries
    the flows that start or end at its host.
    """

    nodes: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    cards: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def of_hosts(cls, nodes: Sequence[str], links: Sequence[Link]) -> Network:
        """The network of hosts with any number of links: the second and later ones of a host get cards.

        Args:
            nodes: kind of each node, "host" or "switch".
            links: links between these nodes; if one is faulty (see ``faults``), all of them stay as they are.
        """
        net = cls(list(nodes), list(links))
        indices, pairs = range(len(nodes)), {frozenset((link.a, link.b)) for link in links}
        if len(pairs) < len(links) or any(len(x) < 2 or min(x) < 0 or max(x) not in indices for x in pairs):
            return net
        ends = [end for link in links for end in (link.a, link.b) if nodes[end] != "switch"]
        if len(set(ends)) == len(ends):
            return net
        linked: set[int] = set()
        for i, link in enumerate(links):
            a, b = (net._card_of(end, linked) for end in (link.a, link.b))
            net.links[i] = Link(a, b, link.rate_bps, link.delay_ns)
        return net

    def _card_of(self, node: int, linked: set[int]) -> int:
        """The node at which one more link of a node starts."""
        if self.nodes[node] == "switch" or node not in linked:
            linked.add(node)
            return node
        (card,) = self.add("card", 1)
        self.cards.setdefault(node, [node]).append(card)
        return card

    def add(self, kind: str, count: int) -> list[int]:
        """Appends nodes; returns their ids."""
        begin = len(self.nodes)
        self.nodes += [kind] * count
        return list(range(begin, begin + count))

    def mesh(self, near: Sequence[int], far: Sequence[int], rate_bps: float, delay_ns: int) -> None:
        """Links each of the ``near`` nodes to each of the ``far`` ones."""
        self.links += [Link(a, b, rate_bps, delay_ns) for a in near for b in far]

    def attach(self, hosts: Sequence[int], switches: Sequence[int], rate_bps: float, delay_ns: int) -> None:
        """Links each host to one switch, the first ones to the first; all switches get the same number."""
        each = len(hosts) // len(switches)
        self.links += [Link(host, switches[i // each], rate_bps, delay_ns) for i, host in enumerate(hosts)]

    @property
    def simulator_kinds(self) -> list[str]:
        """Kinds of the nodes as simulators know them: a card is a host."""
        return ["host" if kind == "card" else kind for kind in self.nodes]

    @cached_property
    def hosts(self) -> list[int]:
        """Ids of the hosts, ascending."""
        return [i for i, kind in enumerate(self.nodes) if kind == "host"]

    @cached_property
    def access(self) -> dict[int, Link]:
        """The link of each host's first card, and of each other card."""
        hosts = {i for i, kind in enumerate(self.nodes) if kind != "switch"}
        access_links: dict[int, Link] = {}
        for link in self.links:
            for end in (link.a, link.b):
                if end in hosts:
                    access_links.setdefault(end, link)
        return access_links

    def bdps_from(self, host: int) -> dict[int, float]:
        """BDP of the path from a host to each other one, there and back, at the rate of its slowest link."""
        beside: dict[int, list[tuple[int, Link]]] = {node: [] for node in range(len(self.nodes))}
        for link in self.links:
            beside[link.a].append((link.b, link))
            beside[link.b].append((link.a, link))
        ways = {host: (math.inf, 0)}  # slowest rate, delay
        todo = deque(ways)
        while todo:
            node = todo.popleft()
            rate, delay = ways[node]
            for other, link in beside[node]:
                if other not in ways:
                    ways[other] = min(rate, link.rate_bps), delay + link.delay_ns
                    if self.nodes[other] == "switch":
                        todo.append(other)
        return {
            other: rate * 2 * delay / 8e9
            for other, (rate, delay) in ways.items()
            if self.nodes[other] == "host" and other != host
        }

    def access_switch(self, host: int) -> int:
        """The node at the other end of a host's link, or a card's."""
        link = self.access[host]
        return link.b if link.a == host else link.a

    def link_ends(self, a: int, b: int) -> tuple[int, int]:
        """The nodes at which the link between ``a`` and ``b`` starts: of a host with several the card's."""
        return self._card_towards(a, b), self._card_towards(b, a)

    def _card_towards(self, host: int, other: int) -> int:
        ends = self.cards.get(other, [other])
        return next((card for card in self.cards.get(host, ()) if self.access_switch(card) in ends), host)

    def ways_between(self, src: int, dst: int) -> list[tuple[int, int]]:
        """Pairs of cards between which a host's flows to another one go, in turn: those with the fewest links
        in between, of these the fastest.

        Raises:
            ScenarioError: no card of the one reaches any of the other.
        """
        if src not in self.cards and dst not in self.cards:
            return [(src, dst)]
        from_cards, to_cards = self.cards.get(src, [src]), self.cards.get(dst, [dst])
        racks = self._rack(src, from_cards), self._rack(dst, to_cards)
        apart = set(from_cards).isdisjoint(to_cards)  # hosts of a node may share a card
        places = self._nearest.get(racks) if apart else None
        if places is None:
            places = self._find_nearest(from_cards, to_cards)
            if not places:
                raise ScenarioError(f"there is no path from host {src} to host {dst}: hosts do not forward")
            if apart:
                self._nearest[racks] = places
        return [(from_cards[i], to_cards[j]) for i, j in places]

    def _find_nearest(self, from_cards: Sequence[int], to_cards: Sequence[int]) -> list[tuple[int, int]]:
        """Places of the nearest and fastest pairs in two hosts' lists of cards."""
        ways = [
            (self._links_between(a, b), -min(self.access[a].rate_bps, self.access[b].rate_bps), (i, j))
            for i, a in enumerate(from_cards)
            for j, b in enumerate(to_cards)
            if a != b
        ]
        least, fastest, _ = min(ways)
        return [pair for *way, pair in ways if way == [least, fastest] and least < math.inf]

    @cached_property
    def _nearest(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        """Places of the nearest cards by two hosts' racks."""
        return {}

    def _rack(self, host: int, cards: Sequence[int]) -> int:
        """Number of the hosts that have links of the same rates to the same switches."""
        if (number := self._rack_of.get(host)) is None:
            ports = tuple((self.access_switch(card), self.access[card].rate_bps) for card in cards)
            number = self._rack_of[host] = self._racks.setdefault(ports, len(self._racks))
        return number

    @cached_property
    def _rack_of(self) -> dict[int, int]:
        return {}

    @cached_property
    def _racks(self) -> dict[tuple[tuple[int, float], ...], int]:
        return {}

    def _links_between(self, card: int, other: int) -> float:
        """Links from a card's other end, a switch or a card, to another card; infinite without a path."""
        start, end = self.access_switch(card), self.access_switch(other)
        if start in (other, end):
            return int(start == end)
        near = self._fabric[start]
        if near not in self._reached:
            self._reached[near] = _hops(near, self._fabric)
        return self._reached[near].get(end, math.inf) + 2

    @cached_property
    def _reached(self) -> dict[tuple[int, ...], dict[int, int]]:
        """Links to each switch from the nearest of several ones, by these."""
        return {}

    @cached_property
    def _fabric(self) -> list[tuple[int, ...]]:
        """Switches next to each switch."""
        fabric: list[list[int]] = [[] for _ in self.nodes]
        for link in self.links:
            if self.nodes[link.a] == self.nodes[link.b] == "switch":
                fabric[link.a].append(link.b)
                fabric[link.b].append(link.a)
        return list(map(tuple, fabric))

    def faults(self) -> list[str]:
        """Lists the faults of the graph; [] without any."""
        n = len(self.nodes)
        faults = []
        neighbours: list[list[int]] = [[] for _ in range(n)]
        joined: dict[frozenset[int], int] = {}
        for i, link in enumerate(self.links):
            wrong = [end for end in (link.a, link.b) if not 0 <= end < n]
            if wrong:
                faults.append(f"links.{i}: there is no node {wrong[0]}; nodes are 0 to {n - 1}")
            elif link.a == link.b:
                faults.append(f"links.{i}: a link from node {link.a} to itself")
            elif (first := joined.setdefault(frozenset((link.a, link.b)), i)) != i:
                faults.append(f"links.{i}: nodes {link.a} and {link.b} are joined already, by links.{first}")
            else:
                neighbours[link.a].append(link.b)
                neighbours[link.b].append(link.a)
        if faults:
            return faults
        if len(self.hosts) < 2:
            return ["nodes: a network needs at least two hosts"]
        faults += [f"links: host {host} has no link" for host in self.hosts if not neighbours[host]]
        for first, *others in self.cards.values():
            for card in others:
                neighbours[first].append(card)
                neighbours[card].append(first)
        reached = _hops([self.hosts[0]], neighbours)
        lost = [host for host in self.hosts if host not in reached]
        if lost and not faults:
            faults.append(f"links: there is no path from host {self.hosts[0]} to host {lost[0]}")
        return faults or ([] if self.cards else self._hop_faults(neighbours))

    def _hop_faults(self, neighbours: list[list[int]]) -> list[str]:
        """Two hosts with more switches between them than there may be."""
        edge: dict[int, int] = {}  # a host of each access switch
        for host in self.hosts:
            if self.nodes[at := self.access_switch(host)] == "switch":
                edge.setdefault(at, host)
        fabric = [[other for other in others if self.nodes[other] == "switch"] for others in neighbours]
        far = self._far_from_others(list(edge), fabric)
        if far is None:
            return []
        hops = _hops([far], fabric)
        farthest = max(edge, key=lambda node: hops[node])
        return [
            f"links: the path from host {edge[far]} to host {edge[farthest]} has {hops[farthest] + 1} "
            f"switches; there may be {MAX_PATH_SWITCHES}"
        ]

    def _far_from_others(self, edge: list[int], fabric: list[list[int]]) -> int | None:
        """The first access switch that is too far from some other; ``fabric``: switches next to each node.

        A switch's set of access switches in reach, a bit each, grows with each hop by its neighbours' sets.
        Switches with the same neighbours, as a fat-tree's, grow by the same: that is worked out once.
        """
        reach = [0] * len(self.nodes)
        for i, switch in enumerate(edge):
            reach[switch] = 1 << i
        everywhere = (1 << len(edge)) - 1
        alike: dict[tuple[int, ...], list[int]] = {}
        for switch, others in enumerate(fabric):
            if self.nodes[switch] == "switch":
                alike.setdefault(tuple(sorted(others)), []).append(switch)
        for _ in range(MAX_PATH_SWITCHES - 1):
            if all(reach[switch] == everywhere for switch in edge):
                break
            gained = {between: reduce(or_, map(reach.__getitem__, between), 0) for between in alike}
            for between, switches in alike.items():
                for switch in switches:
                    reach[switch] |= gained[between]
        return next((switch for switch in edge if reach[switch] != everywhere), None)


def _hops(starts: Iterable[int], neighbours: Sequence[Sequence[int]]) -> dict[int, int]:
    """Links on the shortest path from one of these nodes to each that can be reached."""
    hops = dict.fromkeys(starts, 0)
    todo = deque(hops)
    while todo:
        node = todo.popleft()
        for other in neighbours[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                todo.append(other)
    return hops
