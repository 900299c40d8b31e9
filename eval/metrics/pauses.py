# SPDX-License-Identifier: GPL-2.0-or-later
"""Priority flow control (PFC): pause frames, and the time for which links were paused."""

from __future__ import annotations

import math

from ns3_env.eval.metrics.registry import metric
from ns3_env.simulator.results import Results, flow_column, flow_ends


@metric(
    "PFC pause frames",
    "pause frames sent by all switches",
    "lower",
    format=",.0f",
    over_episodes="sum",
    resolution=10,
)
def pfc_frames(results: Results) -> float:
    """Pause frames that switches sent, to hosts and to switches."""
    return float(results["totals"]["pfc_frames"])


@metric(
    "PFC pause time",
    "Σ over links of the time PFC kept them silent",
    "lower",
    unit="ns",
    format=",.0f",
    resolution=10_000,
)
def pfc_pause_ns(results: Results) -> float:
    """Time for which PFC kept a link from sending, summed over all links (hosts' and switches')."""
    switches = sum(float(port.get("paused_ns", 0)) for port in results["queues"])
    return switches + float(results["totals"].get("host_pause_ns", 0))


@metric(
    "PFC pause share",
    "Σ time flows' sender links were paused / Σ lifetimes",
    "lower",
    format=".3g",
    resolution=0.01,
)
def pfc_pause_fraction(results: Results) -> float:
    """Time PFC kept the flows' sender links paused / the flows' lifetimes, each summed over the flows."""
    life = float((flow_ends(results) - flow_column(results, "start_ns")).sum())
    return float(flow_column(results, "pause_ns").sum()) / life if life > 0 else math.nan
