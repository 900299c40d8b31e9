# SPDX-License-Identifier: GPL-2.0-or-later
"""Topology from a map of Rocketfuel: an ISP's routers, or its latencies."""

from __future__ import annotations

import re
import warnings
from collections import deque
from typing import Literal, TextIO

from ns3_env.config.bounds import MAX_LINKS, MAX_SWITCHES, WHY_HOSTS
from ns3_env.config.model import shown
from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.topology.map_topology import Edge, MapTopology, Site

#: uid @place [+] [bb] (neighbours) [&outside] -> <uid> ... {-uid} ... =address[!] rn
_ROUTER = re.compile(r"(\d{1,9})\s+@\S*\s.*?->(.*)")
_OUTSIDE = re.compile(r"-\d{1,9}\s+=")
_NEIGHBOUR = re.compile(r"<(\d{1,9})>")
_LATENCY = re.compile(r"(\S+)\s+(\S+)\s+([0-9]{1,9}(?:\.[0-9]{0,9})?)")


class RocketfuelTopology(MapTopology):
    """An ISP's map of Rocketfuel: routers are switches with hosts.

    A file of routers (``1221.cch``) has a line ``uid @place ... -> <neighbour> ... =address rn`` for each;
    routers outside and links to them are left out. A file of latencies (``latencies.intra``) has a line with
    two routers and milliseconds for each link. Neither has rates (``rate_bps``). Routers that are not
    connected with the largest part are left out.
    """

    kind: Literal["rocketfuel"] = "rocketfuel"

    def _take(self, text: TextIO) -> None:
        sites: dict[str, Site] = {}
        edges: dict[frozenset[str], Edge] = {}
        for line, row in enumerate(text, start=1):
            row = row.partition("#")[0].strip()
            if not row or _OUTSIDE.match(row):
                continue
            if router := _ROUTER.match(row):
                sites.setdefault(router[1], Site(line)).line = line
                more = [Edge(line, router[1], other) for other in _NEIGHBOUR.findall(router[2])]
            elif latency := _LATENCY.fullmatch(row):
                more = [Edge(line, latency[1], latency[2], delay=f"{latency[3]}ms")]
            else:
                self._wrong.add(
                    line,
                    f"{shown(row)} is neither a router (uid @place ... -> <uid> ... =address rn) nor a "
                    "latency (router router milliseconds)",
                )
                return
            for edge in more:
                if edge.a != edge.b:
                    edges.setdefault(frozenset((edge.a, edge.b)), edge)
                    for name in (edge.a, edge.b):
                        sites.setdefault(name, Site(line))
            if len(sites) > MAX_SWITCHES or len(edges) > MAX_LINKS:
                self._wrong.add(line, f"there may be at most {MAX_SWITCHES} routers: {WHY_HOSTS}")
                return
        self._assemble_connected(sites, list(edges.values()))

    def _assemble_connected(self, sites: dict[str, Site], edges: list[Edge]) -> None:
        """Makes the graph of the largest part that is connected."""
        beside: dict[str, list[str]] = {name: [] for name in sites}
        for edge in edges:
            beside[edge.a].append(edge.b)
            beside[edge.b].append(edge.a)
        largest: set[str] = set()
        rest = set(sites)
        while len(rest) > len(largest):
            part = _connected(next(name for name in sites if name in rest), beside)
            rest -= part
            largest = max(largest, part, key=len)
        if len(largest) < len(sites):
            warnings.warn(
                f"{self.file}: {len(sites) - len(largest)} of {len(sites)} routers are not connected with "
                "the others, and are left out",
                ScenarioWarning,
                stacklevel=2,
            )
        inside = [edge for edge in edges if edge.a in largest]
        self._assemble({name: site for name, site in sites.items() if name in largest}, inside, False)


def _connected(start: str, beside: dict[str, list[str]]) -> set[str]:
    """The nodes that can be reached from one, and itself."""
    reached = {start}
    todo = deque(reached)
    while todo:
        for other in beside[todo.popleft()]:
            if other not in reached:
                reached.add(other)
                todo.append(other)
    return reached
