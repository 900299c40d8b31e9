# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of MLCommons Chakra: read, written, and run as traffic."""

from __future__ import annotations

from ns3_env.scenario.traffic.chakra.reading import common_name, read_trace
from ns3_env.scenario.traffic.chakra.trace import (
    COLLECTIVE,
    COLLECTIVES,
    COMM_TYPES,
    COMPUTE,
    RECEIVE,
    SEND,
    Node,
    written_trace,
)
from ns3_env.scenario.traffic.chakra.traffic import Chakra

__all__ = [
    "COLLECTIVE",
    "COLLECTIVES",
    "COMM_TYPES",
    "COMPUTE",
    "RECEIVE",
    "SEND",
    "Chakra",
    "Node",
    "common_name",
    "read_trace",
    "written_trace",
]
