# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario: its parts, the values derived from them, and the JSON for the simulator."""

from ns3_env.scenario.clock import Clock, PerAck, PerFlowRtt, PerNotification, Synchronous
from ns3_env.scenario.congestion_points import CongestionPoints
from ns3_env.scenario.controller import AGENT, NETWORK, Controller
from ns3_env.scenario.declared import published_congestion_points, published_ecn
from ns3_env.scenario.derived import MIB
from ns3_env.scenario.record import Record
from ns3_env.scenario.scenario import Scenario
from ns3_env.scenario.switch import Ecn, EcnSetting, Switch

__all__ = [
    "AGENT",
    "MIB",
    "NETWORK",
    "Clock",
    "CongestionPoints",
    "Controller",
    "Ecn",
    "EcnSetting",
    "PerAck",
    "PerFlowRtt",
    "PerNotification",
    "Record",
    "Scenario",
    "Switch",
    "Synchronous",
    "published_congestion_points",
    "published_ecn",
]
