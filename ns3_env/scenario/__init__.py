# SPDX-License-Identifier: GPL-2.0-or-later
"""What does a user describe? A scenario: its parts, what follows from them, and how the simulator is told."""

from ns3_env.scenario.clock import Clock, PerAck, PerFlowRtt, Synchronous
from ns3_env.scenario.controller import AGENT, NETWORK, Controller
from ns3_env.scenario.derived import MIB
from ns3_env.scenario.record import Record
from ns3_env.scenario.scenario import Scenario
from ns3_env.scenario.switch import Ecn, EcnSetting, Switch, published_ecn

__all__ = [
    "AGENT",
    "MIB",
    "NETWORK",
    "Clock",
    "Controller",
    "Ecn",
    "EcnSetting",
    "PerAck",
    "PerFlowRtt",
    "Record",
    "Scenario",
    "Switch",
    "Synchronous",
    "published_ecn",
]
