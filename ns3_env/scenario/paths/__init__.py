# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of RDMA's flows: load balancing, and failures of links and switches."""

from __future__ import annotations

from ns3_env.scenario.paths.failures import (
    DrawnOutages,
    Ecmp,
    Failures,
    Flowlet,
    LoadBalancing,
    Outage,
    Spray,
    Valiant,
    balancing_content,
)

__all__ = [
    "DrawnOutages",
    "Ecmp",
    "Failures",
    "Flowlet",
    "LoadBalancing",
    "Outage",
    "Spray",
    "Valiant",
    "balancing_content",
]
