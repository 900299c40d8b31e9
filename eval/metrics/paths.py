# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths: losses to failures, and reordering, where a scenario has load balancing or failures."""

from __future__ import annotations

import math

from ns3_env.eval.metrics.losses import lost_by
from ns3_env.eval.metrics.registry import Metric, declare
from ns3_env.simulator.results import Results

SECTION = "paths"


def failure_losses(results: Results) -> float:
    """Packets that a failed link or switch cost: on the wire, waiting, or sent to it; or without a way."""
    return lost_by(results, "failure")


def reordered_fraction(results: Results) -> float:
    """Of the data packets that arrived, those that came after one that was sent later (RFC 4737)."""
    paths = results.get(SECTION, {"arrived_packets": 0})
    arrived = paths["arrived_packets"]
    return float(paths["reordered_packets"] / arrived) if arrived else math.nan


def reorder_distance(results: Results) -> float:
    """The most packets that arrived between one and the first that overtook it."""
    return float(results[SECTION]["reorder_distance"]) if SECTION in results else math.nan


declare(
    Metric(
        "failure_losses",
        "lost to failures",
        "packets lost to links and switches that were down",
        lambda shared: shared.once(failure_losses),
        "lower",
        format=",.0f",
        over_episodes="sum",
        resolution=1,
        section=SECTION,
    )
)
declare(
    Metric(
        "reordered_fraction",
        "reordered packets",
        "data packets that arrived after one that was sent later / those that arrived",
        lambda shared: shared.once(reordered_fraction),
        "lower",
        format=".2%",
        resolution=0.001,
        section=SECTION,
    )
)
declare(
    Metric(
        "reorder_distance",
        "reorder distance",
        "most packets between one and the first that overtook it",
        lambda shared: shared.once(reorder_distance),
        "lower",
        format=",.0f",
        resolution=1,
        section=SECTION,
    )
)
