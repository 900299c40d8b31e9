# SPDX-License-Identifier: GPL-2.0-or-later
"""Topology given as lists of nodes and links."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ns3_env.config.bounds import MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, WHY_HOSTS, DelayNs, LinkRate, few
from ns3_env.config.model import Strict
from ns3_env.scenario.topology.kind import TopologyKind
from ns3_env.scenario.topology.network import Link, Network


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
        hosts = self.nodes.count("host")
        return hosts, len(self.nodes) - hosts, len(self.links)

    def build(self) -> Network:
        return Network(list(self.nodes), [Link(x.a, x.b, x.rate_bps, x.delay_ns) for x in self.links])
