# SPDX-License-Identifier: GPL-2.0-or-later
"""The scenario, with its topologies, traffic, clocks, switches and controllers."""

from ns3_env.scenario.controllers import (
    AGENT,
    POLICY,
    Clock,
    Controller,
    PerAck,
    PerFlowRtt,
    PerNotification,
    Synchronous,
)
from ns3_env.scenario.declared import published_congestion_points, published_ecn
from ns3_env.scenario.derived import MIB
from ns3_env.scenario.paths import DrawnOutages, Ecmp, Failures, Flowlet, Outage, Reps, Spray, Valiant
from ns3_env.scenario.record import Record
from ns3_env.scenario.scenario import Scenario, ScenarioLike
from ns3_env.scenario.switch import CongestionPoints, Ecn, EcnSetting, Switch
from ns3_env.scenario.topology import (
    Dumbbell,
    FatTree2,
    FatTree3,
    Graph,
    LeafSpine,
    ParkingLot,
    PublishedTopology,
)
from ns3_env.scenario.traffic import (
    ConstantRate,
    FlowFile,
    FlowList,
    Incast,
    Joining,
    LongShort,
    Mix,
    Poisson,
    PoissonIncast,
    PublishedFlows,
)

__all__ = [
    "AGENT",
    "MIB",
    "POLICY",
    "Clock",
    "CongestionPoints",
    "ConstantRate",
    "Controller",
    "DrawnOutages",
    "Dumbbell",
    "Ecmp",
    "Ecn",
    "EcnSetting",
    "Failures",
    "FatTree2",
    "FatTree3",
    "FlowFile",
    "FlowList",
    "Flowlet",
    "Graph",
    "Incast",
    "Joining",
    "LeafSpine",
    "LongShort",
    "Mix",
    "Outage",
    "ParkingLot",
    "PerAck",
    "PerFlowRtt",
    "PerNotification",
    "Poisson",
    "PoissonIncast",
    "PublishedFlows",
    "PublishedTopology",
    "Record",
    "Reps",
    "Scenario",
    "ScenarioLike",
    "Spray",
    "Switch",
    "Synchronous",
    "Valiant",
    "published_congestion_points",
    "published_ecn",
]
