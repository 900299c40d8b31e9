# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of the kinds of topology: they can be built, and their size is known beforehand."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, WHY_HOSTS, DelayNs, LinkRate, few
from ns3_env.config.model import Strict
from ns3_env.scenario.topology.network import Link, Network

GBPS = 1e9


class TopologyKind(Strict):
    """Base of topologies: each can be built."""

    def counts(self) -> tuple[int, int, int]:
        """Hosts, switches and links, known before anything is built."""
        raise NotImplementedError

    def build(self) -> Network:
        """The network."""
        raise NotImplementedError

    def faults(self, network: Network) -> list[str]:
        """Lists the faults of the network, as "key: text"; [] without any."""
        return network.faults()

    def without_files(self) -> TopologyKind:
        """The same topology with a file's contents written out."""
        return self

    @model_validator(mode="after")
    def _not_too_large(self) -> Self:
        for what, count, limit in zip(
            ("hosts", "switches", "links"), self.counts(), (MAX_HOSTS, MAX_SWITCHES, MAX_LINKS), strict=True
        ):
            if count > limit:
                raise ValueError(f"{count} {what}; there may be at most {limit}: {WHY_HOSTS}")
        return self


class GraphLink(Strict):
    """One link of a graph."""

    a: int = Field(ge=0)
    b: int = Field(ge=0)
    rate_bps: LinkRate
    delay_ns: DelayNs = Field(gt=0)


class Graph(TopologyKind):
    """Any network: a list of nodes ("host" or "switch"; the position is the id) and a list of links.

    A host may have several links: a card for each (docs/clusters.md).
    """

    kind: Literal["graph"] = "graph"
    nodes: Annotated[list[Literal["host", "switch"]], few(MAX_HOSTS + MAX_SWITCHES, WHY_HOSTS)]
    links: Annotated[list[GraphLink], few(MAX_LINKS, WHY_HOSTS)]

    def counts(self) -> tuple[int, int, int]:
        hosts = self.nodes.count("host")
        return hosts, len(self.nodes) - hosts, len(self.links)

    def build(self) -> Network:
        return Network.of_hosts(self.nodes, [Link(x.a, x.b, x.rate_bps, x.delay_ns) for x in self.links])
