# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths of flows: load balancing, failures of links and switches, links whose rate changes over time."""

from __future__ import annotations

from ns3_env.scenario.paths.failures import (
    DrawnOutages,
    Ecmp,
    Failures,
    Flowlet,
    LoadBalancing,
    Outage,
    Reps,
    Spray,
    Valiant,
    balancing_content,
)
from ns3_env.scenario.paths.link_rates import (
    DrawnRates,
    LinkRate,
    LinkRates,
    RateStep,
    are_drawn,
    link_rate_faults,
    link_rate_rows,
)

__all__ = [
    "DrawnOutages",
    "DrawnRates",
    "Ecmp",
    "Failures",
    "Flowlet",
    "LinkRate",
    "LinkRates",
    "LoadBalancing",
    "Outage",
    "RateStep",
    "Reps",
    "Spray",
    "Valiant",
    "are_drawn",
    "balancing_content",
    "link_rate_faults",
    "link_rate_rows",
]
