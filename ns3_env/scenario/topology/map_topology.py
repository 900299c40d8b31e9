# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of topologies from maps of networks: nodes by name, perhaps with places, and edges."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from pydantic import Field

from ns3_env.config.bounds import MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, WHY_HOSTS, DelayNs, HostCount, LinkRate
from ns3_env.config.model import shown
from ns3_env.config.units import RATE, TIME, quantity
from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.topology.file_topology import FileTopology
from ns3_env.scenario.topology.kind import GBPS, Graph, GraphLink

_EARTH_RADIUS_M = 6_371_000
#: Two thirds of light's speed in vacuum.
_FIBRE_M_PER_S = 2e8


@dataclass
class Site:
    """A node of a map; ``place`` has degrees of latitude and longitude."""

    line: int
    is_host: bool = False
    place: tuple[float, float] | None = None


class Edge(NamedTuple):
    """A link of a map; "" if the file gives no rate or delay."""

    line: int
    a: str
    b: str
    rate: str = ""
    delay: str = ""


class MapTopology(FileTopology):
    """A network whose file has nodes by name, and edges: switches with hosts, or hosts if it specifies them.

    Hosts come first, in the order of the file, switch by switch, then the switches. Parallel edges are one
    link with their rates together. A link without a delay has that of light in a fibre between the places
    of its ends, ``delay_ns`` at least.
    """

    hosts_per_switch: HostCount = Field(default=1, ge=1, description="if the file has no hosts")
    rate_bps: LinkRate = Field(
        default=100 * GBPS, description="of hosts' links, and of links without a rate in the file"
    )
    delay_ns: DelayNs = Field(
        default=1000, gt=0, description="of hosts' links, and of links with neither a delay nor places"
    )

    def _assemble(self, sites: Mapping[str, Site], edges: Sequence[Edge], directed: bool) -> None:
        """Makes the graph; faults go into ``_wrong``.

        Args:
            sites: nodes by name.
            edges: edges between them.
            directed: each edge is one direction of a link.
        """
        switches = [name for name, site in sites.items() if not site.is_host]
        hosts = [name for name, site in sites.items() if site.is_host]
        copies = [] if hosts else [name for name in switches for _ in range(self.hosts_per_switch)]
        counts = (len(hosts) + len(copies), len(switches), len(edges) + len(copies))
        if any(x > most for x, most in zip(counts, (MAX_HOSTS, MAX_SWITCHES, MAX_LINKS), strict=True)):
            most = f"{MAX_HOSTS}, {MAX_SWITCHES} and {MAX_LINKS}"
            text = f"{counts[0]} hosts, {counts[1]} switches, {counts[2]} links; there may be {most}"
            self._wrong.add(0, f"{text}: {WHY_HOSTS}")
            return
        number = {name: i for i, name in enumerate([*hosts, *switches], start=len(copies))}
        links = [
            (sites[name].line, GraphLink(a=i, b=number[name], rate_bps=self.rate_bps, delay_ns=self.delay_ns))
            for i, name in enumerate(copies)
        ]
        links += self._links(sites, edges, directed, number)
        self._warn_of_rates(edges)
        if not len(self._wrong):
            kinds: list[Literal["host", "switch"]] = ["host"] * counts[0]
            kinds += ["switch"] * counts[1]
            self._lines = [line for line, _ in links]
            self._graph = Graph(nodes=kinds, links=[link for _, link in links])

    def _links(
        self, sites: Mapping[str, Site], edges: Sequence[Edge], directed: bool, number: Mapping[str, int]
    ) -> Iterator[tuple[int, GraphLink]]:
        """Yields the edges' links with their lines, edges of the same nodes together."""
        together: dict[frozenset[str], list[Edge]] = {}
        for edge in edges:
            if strangers := [name for name in (edge.a, edge.b) if name not in sites]:
                self._wrong.add(edge.line, f"there is no node {shown(strangers[0])}")
            else:
                together.setdefault(frozenset((edge.a, edge.b)), []).append(edge)
        for same in together.values():
            first = same[0]
            try:
                rate, delay = self._rate(same, directed), self._delay(same, sites)
            except ValueError as error:
                self._wrong.add(first.line, str(error))
                continue
            keys = {"a": number[first.a], "b": number[first.b], "rate_bps": rate, "delay_ns": delay}
            if (link := self._link(first.line, keys)) is not None:
                yield first.line, link

    def _rate(self, same: Sequence[Edge], directed: bool) -> float:
        """The rate of edges between two nodes, bit/s. Raises ValueError."""
        forth, back = Fraction(0), Fraction(0)
        for edge in same:
            rate = quantity(edge.rate, RATE) if edge.rate else Fraction(self.rate_bps)
            if directed and edge.a != same[0].a:
                back += rate
            else:
                forth += rate
        if back and back != forth:
            raise ValueError(f"{float(forth):g} bit/s there, {float(back):g} back: a link has one rate")
        return float(forth)

    def _delay(self, same: Sequence[Edge], sites: Mapping[str, Site]) -> int:
        """The delay of edges between two nodes, ns: the shortest in the file. Raises ValueError."""
        if delays := [quantity(edge.delay, TIME) for edge in same if edge.delay]:
            return round(min(delays))
        a, b = sites[same[0].a].place, sites[same[0].b].place
        if a is None or b is None:
            return self.delay_ns
        return max(self.delay_ns, round(distance_m(a, b) / _FIBRE_M_PER_S * 1e9))

    def _warn_of_rates(self, edges: Sequence[Edge]) -> None:
        rateless = sum(not edge.rate for edge in edges)
        if rateless and "rate_bps" not in self.model_fields_set:
            warnings.warn(
                f"{self.file}: {rateless} of {len(edges)} links have no rate: each gets "
                f"rate_bps, {self.rate_bps:g} bit/s",
                ScenarioWarning,
                stacklevel=2,
            )


def distance_m(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Metres along a great circle between two places, degrees of latitude and longitude (haversines)."""
    (south, west), (north, east) = (tuple(map(math.radians, place)) for place in (a, b))
    # h = sin^2(dlat / 2) + cos(lat1) cos(lat2) sin^2(dlon / 2), d = 2 R asin(sqrt(h))
    h = math.sin((north - south) / 2) ** 2
    h += math.cos(south) * math.cos(north) * math.sin((east - west) / 2) ** 2
    return 2 * _EARTH_RADIUS_M * math.asin(math.sqrt(min(h, 1)))
