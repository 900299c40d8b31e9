# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of topology, by name.

A new kind is a class derived from ``TopologyKind`` in a file of this folder, and its place in ``Topology``.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from ns3_env.config.model import named_by
from ns3_env.scenario.topology.cluster import Cluster, ScaleOut, ScaleUp
from ns3_env.scenario.topology.direct import Dragonfly, Torus
from ns3_env.scenario.topology.graphml import GraphmlTopology
from ns3_env.scenario.topology.htsim import HtsimTopology
from ns3_env.scenario.topology.kind import Graph, GraphLink, TopologyKind
from ns3_env.scenario.topology.network import MAX_PATH_SWITCHES, Link, Network
from ns3_env.scenario.topology.published import PublishedTopology
from ns3_env.scenario.topology.regular import Dumbbell, FatTree2, FatTree3, LeafSpine, ParkingLot
from ns3_env.scenario.topology.rocketfuel import RocketfuelTopology

__all__ = [
    "MAX_PATH_SWITCHES",
    "Cluster",
    "Dragonfly",
    "Dumbbell",
    "FatTree2",
    "FatTree3",
    "Graph",
    "GraphLink",
    "GraphmlTopology",
    "HtsimTopology",
    "LeafSpine",
    "Link",
    "Network",
    "ParkingLot",
    "PublishedTopology",
    "RocketfuelTopology",
    "ScaleOut",
    "ScaleUp",
    "Topology",
    "TopologyKind",
    "Torus",
]

_Regular = Dumbbell | ParkingLot | FatTree2 | FatTree3 | LeafSpine | Torus | Dragonfly | Cluster
_Kinds = _Regular | Graph | PublishedTopology | HtsimTopology | GraphmlTopology | RocketfuelTopology
Topology = Annotated[_Kinds, Field(discriminator="kind"), BeforeValidator(named_by("kind", _Kinds))]
