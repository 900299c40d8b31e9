# SPDX-License-Identifier: GPL-2.0-or-later
"""Fairness: bandwidths, unfair ratio, Jain's index."""

from __future__ import annotations

import math

import numpy as np

from ns3_env.eval.metrics.registry import Metric, declare
from ns3_env.simulator.results import Floats, Results, flow_column, flow_ends


def unfair_ratio(bandwidths: Floats) -> float:
    """(BW_max − BW_avg) / BW_avg; 0 is fair (Zhang 2023, section 5.4)."""
    mean = float(bandwidths.mean()) if len(bandwidths) else 0.0
    return max(0.0, (float(bandwidths.max()) - mean) / mean) if mean > 0 else math.nan


def jain_index(bandwidths: Floats) -> float:
    """(Σ x)² / (n Σ x²); 1 is fair, 1/n is worst."""
    squares = float((bandwidths**2).sum())
    return float(bandwidths.sum()) ** 2 / (len(bandwidths) * squares) if squares > 0 else math.nan


def common_bandwidths(results: Results) -> Floats:
    """Each flow's payload bit/s while all flows were active; empty if they never were."""
    start, end = results["all_active"]["interval_ns"]
    if start >= end:
        return np.zeros(0)
    received: Floats = np.asarray(results["all_active"]["received_bytes"], dtype=np.float64)
    bandwidths: Floats = received * 8e9 / (end - start)
    return bandwidths


def lifetime_bandwidths(results: Results) -> Floats:
    """Each flow's payload bit/s over its whole life (to the episode's end if it did not finish)."""
    life = flow_ends(results) - flow_column(results, "start_ns")
    acked = flow_column(results, "acked_bytes")
    return np.divide(acked * 8e9, life, out=np.zeros_like(acked), where=life > 0)


declare(
    Metric(
        "unfair_ratio",
        "unfair ratio",
        "(BW_max − BW_avg) / BW_avg while all flows are active",
        lambda shared: unfair_ratio(shared.once(common_bandwidths)),
        "lower",
        format=".2g",
        resolution=0.01,
    )
)
declare(
    Metric(
        "unfair_ratio_lifetime",
        "unfair ratio, lifetimes",
        "(BW_max − BW_avg) / BW_avg over whole lives",
        lambda shared: unfair_ratio(lifetime_bandwidths(shared.results)),
        "lower",
        format=".2g",
        resolution=0.01,
    )
)
declare(
    Metric(
        "jain_index",
        "Jain's index",
        "(Σ x)² / (n Σ x²) of bandwidths while all flows are active",
        lambda shared: jain_index(shared.once(common_bandwidths)),
        "higher",
    )
)
