# SPDX-License-Identifier: GPL-2.0-or-later
"""Clusters of nodes with several GPUs: links within a node, and a fabric between nodes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ValidationInfo, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import (
    MAX_RATE_BPS,
    MAX_SWITCHES,
    MIN_LINK_RATE_BPS,
    DelayNs,
    HostCount,
    LinkRate,
    SwitchCount,
)
from ns3_env.config.files import NamedFile, beside_the_scenario
from ns3_env.config.model import MEANS_NONE, Strict
from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.topology.kind import GBPS, TopologyKind
from ns3_env.scenario.topology.nccl import read_node
from ns3_env.scenario.topology.network import Link, Network


class ScaleUp(Strict):
    """Links between the GPUs of a node, by one switch (an NVSwitch)."""

    rate_bps: LinkRate = Field(default=3600 * GBPS, description="of each GPU's link, in each direction")
    delay_ns: DelayNs = Field(default=300, gt=0)


class ScaleOut(Strict):
    """The fabric between nodes: network cards, leaves, spines."""

    rate_bps: LinkRate = Field(default=400 * GBPS, description="of each network card")
    delay_ns: DelayNs = Field(default=1000, gt=0, description="of each link")
    nodes_per_group: HostCount | None = Field(
        default=None, ge=1, description="nodes that share leaves, one leaf for each rail; none: all nodes"
    )
    spines: SwitchCount | None = Field(
        default=None, ge=1, description="none: 4, or the most that keep their links at 8 Tb/s or below"
    )
    oversubscription: float = Field(
        default=1.0, gt=0, description="rate of a leaf's cards over that of its links to spines"
    )
    rail_optimised: bool = Field(
        default=True,
        description="a leaf has the card of one rail of each node of its group; false: all cards "
        "of some of the nodes",
    )


class Cluster(TopologyKind):
    """Nodes of GPUs. A GPU is a host with a card on its node's switch, and one in the fabric.

    Flows between GPUs of a node stay in it; all other flows leave by the sender's network card, and arrive by
    the receiver's. GPUs come first, node by node, then the network cards, node by node, the nodes' switches,
    the leaves, group by group, and the spines.
    """

    kind: Literal["cluster"] = "cluster"
    nodes: HostCount = Field(default=4, ge=1)
    gpus_per_node: HostCount = Field(default=8, ge=1)
    rails: HostCount | None = Field(
        default=None,
        ge=1,
        description="network cards of a node, which its GPUs share; none: one for each GPU",
    )
    scale_up: ScaleUp | None = Field(
        default_factory=ScaleUp, description="null: GPUs of a node meet only in the fabric"
    )
    scale_out: ScaleOut = Field(default_factory=ScaleOut)
    nccl_topology: NamedFile | None = Field(
        default=None,
        exclude=True,
        description="NCCL's topology of a node, instead of gpus_per_node, rails and both rate_bps",
    )

    @model_validator(mode="before")
    @classmethod
    def _like_the_node(cls, data: Any, info: ValidationInfo) -> Any:
        """Writes out the keys that NCCL's file sets, instead of its name."""
        file = data.get("nccl_topology") if isinstance(data, Mapping) else None
        if not isinstance(file, str) or not file or file in MEANS_NONE:
            return data
        node = read_node(beside_the_scenario(file, info))
        merged, twice = {key: data[key] for key in data if key != "nccl_topology"}, list[str]()
        for key, value in node.keys().items():
            if isinstance(value, dict) and isinstance(section := merged.get(key), Mapping):
                twice += [f"{key}.{name}" for name in value if name in section]
                value = {**section, **value}
            elif key in merged:
                twice.append(key)
            merged[key] = value
        if twice:
            raise ValueError(f"nccl_topology: {file} also sets {', '.join(twice)}; say either this or those")
        for note in node.notes:
            warnings.warn(f"{file}: {note}", ScenarioWarning, stacklevel=2)
        return merged

    @property
    def gpus(self) -> int:
        """GPUs of all nodes."""
        return self.nodes * self.gpus_per_node

    @property
    def _rails(self) -> int:
        return self.rails or self.gpus_per_node

    @property
    def _nodes_per_group(self) -> int:
        return self.scale_out.nodes_per_group or self.nodes

    @property
    def _leaves(self) -> int:
        return self.nodes // self._nodes_per_group * self._rails

    @property
    def _uplinks_bps(self) -> float:
        """Rate of a leaf's links to all spines together."""
        return self._nodes_per_group * self.scale_out.rate_bps / self.scale_out.oversubscription

    @property
    def _least_spines(self) -> int:
        """Spines whose links are no faster than a link may be."""
        return math.ceil(min(self._uplinks_bps / MAX_RATE_BPS, 10 * MAX_SWITCHES))

    @property
    def _spines(self) -> int:
        return self.scale_out.spines or max(4, self._least_spines)

    @model_validator(mode="after")
    def _divides(self) -> Self:
        group, rails = self._nodes_per_group, self._rails
        if self.nodes % group:
            raise ValueError(f"scale_out.nodes_per_group: {group} does not divide {self.nodes} nodes")
        if self.gpus_per_node % rails:
            raise ValueError(f"rails: {rails} does not divide {self.gpus_per_node} GPUs of a node")
        if self.scale_up is None and rails != self.gpus_per_node:
            raise ValueError("rails: GPUs without scale_up need a network card each")
        if not self.scale_out.rail_optimised and group % rails:
            raise ValueError(
                f"scale_out.rail_optimised: {rails} leaves cannot have equally many of {group} nodes; "
                f"give nodes_per_group a multiple of {rails}"
            )
        if self._spines < self._least_spines or self._uplinks_bps / self._spines < MIN_LINK_RATE_BPS:
            raise ValueError(
                f"scale_out.spines: a leaf's link to one of {self._spines} has "
                f"{self._uplinks_bps / self._spines:g} bit/s (rates of its cards over spines and "
                f"oversubscription), must be {MIN_LINK_RATE_BPS:g} to {MAX_RATE_BPS:g}; "
                f"{max(1, self._least_spines)} spines would do"
            )
        return self

    def counts(self) -> tuple[int, int, int]:
        cards = self.nodes * self._rails
        within = 0 if self.scale_up is None else self.gpus
        switches = self._leaves + self._spines + (0 if self.scale_up is None else self.nodes)
        return within + cards, switches, within + cards + self._leaves * self._spines

    def build(self) -> Network:
        net = Network()
        gpus, rails, fabric = net.add("host", self.gpus), self._rails, self.scale_out
        cards = gpus
        if self.scale_up is not None:
            cards = net.add("card", self.nodes * rails)
            net.attach(gpus, net.add("switch", self.nodes), self.scale_up.rate_bps, self.scale_up.delay_ns)
            for gpu in gpus:
                node, place = divmod(gpu, self.gpus_per_node)
                net.cards[gpu] = [gpu, cards[node * rails + place % rails]]
        leaves, spines = net.add("switch", self._leaves), net.add("switch", self._spines)
        net.links += [
            Link(card, leaves[self._leaf_of(*divmod(i, rails))], fabric.rate_bps, fabric.delay_ns)
            for i, card in enumerate(cards)
        ]
        up = self._nodes_per_group * fabric.rate_bps / (self._spines * fabric.oversubscription)
        net.mesh(leaves, spines, up, fabric.delay_ns)
        return net

    def _leaf_of(self, node: int, rail: int) -> int:
        """The leaf that a node's card is linked to, by its place among the leaves."""
        group, place = divmod(node, self._nodes_per_group)
        if self.scale_out.rail_optimised:
            return group * self._rails + rail
        return group * self._rails + place * self._rails // self._nodes_per_group
