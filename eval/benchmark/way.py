# SPDX-License-Identifier: GPL-2.0-or-later
"""The share of the way from what is deployed to the oracle, in charged slowdown."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ns3_env.programs.transport import Transport

#: What each transport's flows are under where nobody asks.
DEPLOYED: Mapping[Transport, str] = {"rdma": "dcqcn", "tcp": "dctcp"}
ORACLE = "oracle"
#: Of an episode, what the way is measured in.
METRIC = "slowdown_charged"
HEADING = "way to the oracle (%)"


def ways(values: Mapping[str, Mapping[int, float]], transport: Transport) -> dict[str, float]:
    """By name 100 ln(deployed / own) / ln(deployed / oracle), of geometric means over the same seeds.

    Args:
        values: of ``METRIC``, by name and seed.
        transport: of the scenario.

    Returns:
        0 of what is deployed, 100 of the oracle, beyond where somebody is; NaN of who shares no seed with
        both. Empty where one of both has not played, or is no better than the other.
    """
    base, best = values.get(DEPLOYED[transport], {}), values.get(ORACLE, {})
    found = {name: _way(own, base, best) for name, own in values.items()}
    return found if not math.isnan(found.get(ORACLE, math.nan)) else {}


def _way(own: Mapping[int, float], base: Mapping[int, float], best: Mapping[int, float]) -> float:
    seeds = [seed for seed in own if seed in base and seed in best]
    logs = np.log([[x[seed] for seed in seeds] for x in (base, own, best)]).mean(axis=1) if seeds else None
    if logs is None or not logs[0] > logs[2]:
        return math.nan
    return float(100 * (logs[0] - logs[1]) / (logs[0] - logs[2]))
